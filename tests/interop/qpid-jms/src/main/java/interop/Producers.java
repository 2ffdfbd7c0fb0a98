package interop;

import jakarta.jms.CompletionListener;
import jakarta.jms.DeliveryMode;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageProducer;
import jakarta.jms.ResourceAllocationException;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Senders: fixed, anonymous, asynchronous, pre-settled. */
final class Producers implements Check.Group {
    private static final int MANY = 1_000;

    @Override
    public void addTo(Check.Registry registry) {
        registry.add("producer_keeps_the_order", Producers::order);
        registry.add("producer_anonymous", Producers::anonymous);
        registry.add("producer_anonymous_to_an_unknown_queue", Producers::anonymousUnknown, "administered");
        registry.add("producer_async_completes_in_order", Producers::async);
        registry.add("producer_async_failure_is_told", Producers::asyncFails, "administered");
        registry.add("producer_presettled", Producers::presettled);
        registry.add("producer_non_persistent", Producers::nonPersistent);
        registry.add("producer_full_queue_refuses", Producers::full, "administered");
        registry.add("producer_many_links", Producers::links);
    }

    private static void order(Bench bench) throws Exception {
        Session session = bench.session("jms.forceAsyncSend=true");
        List<String> all = Expect.series("m", MANY);
        Bench.send(session, bench.queue(session), all);
        Expect.texts(session.createConsumer(bench.queue(session)), all);
    }

    private static void anonymous(Bench bench) throws Exception {
        Session session = bench.session();
        var subscriber = session.createConsumer(bench.topic(session));
        MessageProducer producer = session.createProducer(null);
        for (int round = 0; round < 10; round++) {
            producer.send(bench.queue(session), session.createTextMessage("q" + round));
            producer.send(bench.secondQueue(session), session.createTextMessage("r" + round));
            producer.send(bench.topic(session), session.createTextMessage("t" + round));
        }
        Expect.equal("queue", Expect.series("q", 10), bench.takeAll(bench.queue(session)));
        Expect.equal("second", Expect.series("r", 10), bench.takeAll(bench.secondQueue(session)));
        Expect.texts(subscriber, Expect.series("t", 10));
    }

    private static void anonymousUnknown(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(null);
        var unknown = session.createQueue("jms.never.defined");
        Expect.fails(JMSException.class, () -> producer.send(unknown, session.createTextMessage("a")));
        producer.send(bench.queue(session), session.createTextMessage("the producer goes on"));
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("the producer goes on"));
    }

    /** Collects what a completion listener is told. */
    private static final class Told implements CompletionListener {
        final List<String> completed = Collections.synchronizedList(new ArrayList<>());
        final List<Exception> failed = Collections.synchronizedList(new ArrayList<>());
        final CountDownLatch all;

        Told(int count) {
            all = new CountDownLatch(count);
        }

        @Override
        public void onCompletion(Message message) {
            try {
                completed.add(((jakarta.jms.TextMessage) message).getText());
            } catch (JMSException error) {
                failed.add(error);
            }
            all.countDown();
        }

        @Override
        public void onException(Message message, Exception error) {
            failed.add(error);
            all.countDown();
        }

        void await() throws InterruptedException {
            Expect.that(all.await(30, TimeUnit.SECONDS), all.getCount() + " sends were never answered");
        }
    }

    private static void async(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        Told told = new Told(MANY);
        List<String> all = Expect.series("m", MANY);
        for (String text : all) {
            producer.send(session.createTextMessage(text), told);
        }
        told.await();
        Expect.equal("failed", List.of(), told.failed);
        Expect.equal("completed", all, told.completed);
        Expect.equal("queue", all, bench.takeAll(bench.queue(session)));
    }

    /** The queue takes one message. */
    private static void asyncFails(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(session.createQueue("jms.takes.one.async"));
        Told told = new Told(3);
        for (String text : List.of("first", "second", "third")) {
            producer.send(session.createTextMessage(text), told);
        }
        told.await();
        Expect.equal("completed", List.of("first"), told.completed);
        Expect.equal("failed", 2, told.failed.size());
        for (Exception error : told.failed) {
            Expect.that(error instanceof ResourceAllocationException, "the failure is " + error);
            Expect.that(String.valueOf(error.getMessage()).contains("2053"), "no 2053 in " + error);
        }
    }

    private static void presettled(Bench bench) throws Exception {
        Session session = bench.session("jms.presettlePolicy.presettleAll=true");
        List<String> all = Expect.series("m", 100);
        Bench.send(session, bench.queue(session), all);
        Expect.texts(session.createConsumer(bench.queue(session)), all);
        Expect.equal("queue", List.of(), bench.takeAll(bench.queue(session)));
    }

    private static void nonPersistent(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        producer.setDeliveryMode(DeliveryMode.NON_PERSISTENT);
        List<String> all = Expect.series("m", MANY);
        for (String text : all) {
            producer.send(session.createTextMessage(text));
        }
        Expect.texts(session.createConsumer(bench.queue(session)), all);
    }

    private static void full(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(session.createQueue("jms.takes.one"));
        producer.send(session.createTextMessage("first"));
        var error = Expect.fails(
                ResourceAllocationException.class, () -> producer.send(session.createTextMessage("second")));
        Expect.that(error.getMessage().contains("2053"), "no 2053 in " + error);
        Expect.equal("queue", List.of("first"), bench.takeAll(session.createQueue("jms.takes.one")));
        producer.send(session.createTextMessage("third"));
        Expect.equal("queue", List.of("third"), bench.takeAll(session.createQueue("jms.takes.one")));
    }

    private static void links(Bench bench) throws Exception {
        Session session = bench.session();
        List<MessageProducer> producers = new ArrayList<>();
        for (int number = 0; number < 100; number++) {
            producers.add(session.createProducer(bench.queue(session)));
        }
        for (MessageProducer producer : producers) {
            producer.send(session.createTextMessage("m"));
        }
        Expect.equal("messages", 100, bench.takeAll(bench.queue(session)).size());
        Expect.fails(InvalidDestinationException.class, () -> session.createProducer(null).send(null, session.createMessage()));
    }
}
