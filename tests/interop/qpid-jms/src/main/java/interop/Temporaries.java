package interop;

import jakarta.jms.Connection;
import jakarta.jms.Destination;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import jakarta.jms.TemporaryQueue;
import jakarta.jms.TemporaryTopic;
import jakarta.jms.TextMessage;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Temporary queues and topics. */
final class Temporaries implements Check.Group {
    @Override
    public void addTo(Check.Registry registry) {
        registry.add("temporary_queue_request_and_reply", Temporaries::queueReply);
        registry.add("temporary_topic_request_and_reply", Temporaries::topicReply);
        registry.add("temporary_queue_requestor", Temporaries::requestor);
        registry.add("temporary_queue_is_gone_with_its_connection", Temporaries::gone, "administered");
        registry.add("temporary_queue_outlives_its_session", Temporaries::outlives);
        registry.add("temporary_queue_deleted", Temporaries::deleted, "administered");
        registry.add("temporary_topic_deleted", Temporaries::topicDeleted);
        registry.add("temporary_queues_have_names_of_their_own", Temporaries::names);
        registry.add("temporary_queue_in_a_transaction", Temporaries::transaction);
        registry.add("temporary_queue_with_selector", Temporaries::selector);
    }

    private static void queueReply(Bench bench) throws Exception {
        Session client = bench.session();
        reply(bench, client, client.createTemporaryQueue(), TemporaryQueue.class);
    }

    private static void topicReply(Bench bench) throws Exception {
        Session client = bench.session();
        reply(bench, client, client.createTemporaryTopic(), TemporaryTopic.class);
    }

    private static void reply(Bench bench, Session client, Destination answers, Class<?> kind) throws JMSException {
        MessageConsumer replies = client.createConsumer(answers);
        TextMessage request = client.createTextMessage("request");
        request.setJMSReplyTo(answers);
        client.createProducer(bench.queue(client)).send(request);

        Session service = bench.session();
        Message asked = Expect.text(service.createConsumer(bench.queue(service)), "request");
        Expect.that(
                kind.isInstance(asked.getJMSReplyTo()),
                "JMSReplyTo is " + asked.getJMSReplyTo() + ", no " + kind.getSimpleName());
        Message answer = service.createTextMessage("reply");
        answer.setJMSCorrelationID(asked.getJMSMessageID());
        service.createProducer(asked.getJMSReplyTo()).send(answer);

        Message got = Expect.text(replies, "reply");
        Expect.equal("JMSCorrelationID", request.getJMSMessageID(), got.getJMSCorrelationID());
        Expect.that(kind.isInstance(got.getJMSDestination()), "JMSDestination is " + got.getJMSDestination());
    }

    private static void requestor(Bench bench) throws Exception {
        Session service = bench.session();
        MessageConsumer requests = service.createConsumer(bench.queue(service));
        requests.setMessageListener(request -> {
            try {
                MessageProducer producer = service.createProducer(request.getJMSReplyTo());
                producer.send(service.createTextMessage("re: " + ((TextMessage) request).getText()));
                producer.close();
            } catch (JMSException error) {
                throw new IllegalStateException(error);
            }
        });
        var connection = (jakarta.jms.QueueConnection) bench.keep(bench.factory().createQueueConnection());
        connection.start();
        var session = connection.createQueueSession(false, Session.AUTO_ACKNOWLEDGE);
        var requestor = new jakarta.jms.QueueRequestor(session, bench.queue(session));
        for (int number = 0; number < 5; number++) {
            Message answer = requestor.request(session.createTextMessage("q" + number));
            Expect.equal("answer", "re: q" + number, ((TextMessage) answer).getText());
        }
        requestor.close();
    }

    private static void gone(Bench bench) throws Exception {
        Connection owner = bench.connect();
        TemporaryQueue queue = owner.createSession().createTemporaryQueue();
        Session other = bench.session();
        Bench.send(other, queue, "while it is there");
        owner.close();
        Expect.fails(InvalidDestinationException.class, () -> Bench.send(other, queue, "too late"));
    }

    private static void outlives(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession();
        TemporaryQueue queue = session.createTemporaryQueue();
        Bench.send(session, queue, "kept");
        session.close();
        Session next = connection.createSession();
        Expect.texts(next.createConsumer(queue), List.of("kept"));
    }

    private static void deleted(Bench bench) throws Exception {
        Session session = bench.session();
        TemporaryQueue queue = session.createTemporaryQueue();
        Session other = bench.session();
        Bench.send(other, queue, "while it is there");
        queue.delete();
        Expect.fails(InvalidDestinationException.class, () -> Bench.send(other, queue, "too late"));
    }

    private static void topicDeleted(Bench bench) throws Exception {
        Session session = bench.session();
        TemporaryTopic topic = session.createTemporaryTopic();
        MessageConsumer consumer = session.createConsumer(topic);
        Bench.send(session, topic, "a");
        Expect.text(consumer, "a");
        consumer.close();
        topic.delete();
        session.createTemporaryTopic().delete();
    }

    private static void names(Bench bench) throws Exception {
        Set<String> names = new HashSet<>();
        for (int connections = 0; connections < 2; connections++) {
            Session session = bench.session();
            for (int queues = 0; queues < 25; queues++) {
                names.add(session.createTemporaryQueue().getQueueName());
            }
        }
        Expect.equal("different names", 50, names.size());
    }

    private static void transaction(Bench bench) throws Exception {
        Session session = bench.transacted();
        TemporaryQueue queue = session.createTemporaryQueue();
        MessageConsumer consumer = session.createConsumer(queue);
        Bench.send(session, queue, "undone");
        session.rollback();
        Bench.send(session, queue, "done");
        session.commit();
        Expect.texts(consumer, List.of("done"));
        session.rollback();
        Expect.texts(consumer, List.of("done"));
        session.commit();
    }

    private static void selector(Bench bench) throws Exception {
        Session session = bench.session();
        TemporaryQueue queue = session.createTemporaryQueue();
        MessageConsumer consumer = session.createConsumer(queue, "JMSCorrelationID = 'two'");
        MessageProducer producer = session.createProducer(queue);
        for (String id : List.of("one", "two")) {
            Message message = session.createTextMessage(id);
            message.setJMSCorrelationID(id);
            producer.send(message);
        }
        Expect.texts(consumer, List.of("two"));
    }
}
