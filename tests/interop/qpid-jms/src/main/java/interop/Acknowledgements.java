package interop;

import jakarta.jms.Connection;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Who has a message, once it was acknowledged or was not. */
final class Acknowledgements implements Check.Group {
    /** A mode of Qpid JMS's own: nothing is acknowledged, deliveries are settled by the sender. */
    private static final int NO_ACKNOWLEDGE = 100;
    /** A mode of Qpid JMS's own: each message for itself. */
    private static final int INDIVIDUAL_ACKNOWLEDGE = 101;

    @Override
    public void addTo(Check.Registry registry) {
        registry.add("acknowledge_auto", Acknowledgements::auto);
        registry.add("acknowledge_client_means_all_so_far", Acknowledgements::client);
        registry.add("acknowledge_client_never_called_gives_all_back", Acknowledgements::never);
        registry.add("acknowledge_recover_delivers_again", Acknowledgements::recover);
        registry.add("acknowledge_dups_ok", Acknowledgements::dupsOk);
        registry.add("acknowledge_none", Acknowledgements::none);
        registry.add("acknowledge_individual", Acknowledgements::individual);
        registry.add("acknowledge_listener_that_throws_gets_it_again", Acknowledgements::listenerThrows);
        registry.add("acknowledge_outcome_of_the_applications_choice", Acknowledgements::chosen);
    }

    private static void auto(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
        Bench.send(session, bench.queue(session), "a", "b");
        Expect.text(session.createConsumer(bench.queue(session)), "a");
        connection.close();
        Expect.equal("queue", List.of("b"), left(bench));
    }

    private static void client(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
        Bench.send(session, bench.queue(session), "a", "b", "c");
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "a");
        Expect.text(consumer, "b").acknowledge();
        Expect.text(consumer, "c");
        connection.close();
        Expect.equal("queue", List.of("c"), left(bench));
    }

    private static void never(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
        Bench.send(session, bench.queue(session), "a", "b", "c");
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "a");
        Expect.text(consumer, "b");
        connection.close();
        Session next = bench.session();
        MessageConsumer again = next.createConsumer(bench.queue(next));
        for (String text : List.of("a", "b")) {
            Message message = Expect.text(again, text);
            Expect.that(message.getJMSRedelivered(), text + " was seen, and is not called redelivered");
        }
        Expect.texts(again, List.of("c"));
    }

    private static void recover(Bench bench) throws Exception {
        Session session = bench.connect().createSession(Session.CLIENT_ACKNOWLEDGE);
        Bench.send(session, bench.queue(session), "a", "b", "c");
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "a");
        Expect.text(consumer, "b");
        session.recover();
        Message again = Expect.text(consumer, "a");
        Expect.that(again.getJMSRedelivered(), "JMSRedelivered is not set");
        Expect.text(consumer, "b");
        Expect.text(consumer, "c").acknowledge();
        Expect.nothing(consumer);
    }

    private static void dupsOk(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession(Session.DUPS_OK_ACKNOWLEDGE);
        List<String> all = Expect.series("m", 100);
        Bench.send(session, bench.queue(session), all);
        Expect.texts(session.createConsumer(bench.queue(session)), all);
        connection.close();
        Expect.equal("queue", List.of(), left(bench));
    }

    private static void none(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession(NO_ACKNOWLEDGE);
        List<String> all = Expect.series("m", 20);
        Bench.send(session, bench.queue(session), all);
        Expect.texts(session.createConsumer(bench.queue(session)), all);
        connection.close();
        Expect.equal("queue", List.of(), left(bench));
    }

    private static void individual(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession(INDIVIDUAL_ACKNOWLEDGE);
        Bench.send(session, bench.queue(session), "a", "b", "c");
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "a");
        Expect.text(consumer, "b").acknowledge();
        Expect.text(consumer, "c");
        connection.close();
        Expect.equal("queue", List.of("a", "c"), left(bench));
    }

    private static void listenerThrows(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession();
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch twice = new CountDownLatch(2);
        Bench.send(session, bench.queue(session), "a");
        session.createConsumer(bench.queue(session)).setMessageListener(message -> {
            seen.add(texted(message));
            twice.countDown();
            if (seen.size() == 1) {
                throw new IllegalStateException("the first time it fails, on purpose");
            }
        });
        Expect.that(twice.await(Expect.SOON_MS, TimeUnit.MILLISECONDS), "seen only " + seen);
        connection.close();
        Expect.equal("deliveries", List.of("a", "a"), seen);
        Expect.equal("queue", List.of(), left(bench));
    }

    /** JMS_AMQP_ACK_TYPE chooses the outcome: 1 accepted, 2 rejected, 3 released, 4 and 5 modified. */
    private static void chosen(Bench bench) throws Exception {
        Session session = bench.connect().createSession(Session.CLIENT_ACKNOWLEDGE);
        Bench.send(session, bench.queue(session), "a");
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Message released = Expect.text(consumer, "a");
        released.setIntProperty("JMS_AMQP_ACK_TYPE", 3);
        released.acknowledge();
        Message uncounted = Expect.text(consumer, "a");
        Expect.equal("JMSXDeliveryCount after released", 1, uncounted.getIntProperty("JMSXDeliveryCount"));
        uncounted.setIntProperty("JMS_AMQP_ACK_TYPE", 4);
        uncounted.acknowledge();
        Message counted = Expect.text(consumer, "a");
        Expect.equal("JMSXDeliveryCount after modified", 2, counted.getIntProperty("JMSXDeliveryCount"));
        counted.setIntProperty("JMS_AMQP_ACK_TYPE", 2);
        counted.acknowledge();
        Expect.nothing(consumer);
    }

    private static List<String> left(Bench bench) throws Exception {
        Session session = bench.session();
        return bench.takeAll(bench.queue(session));
    }

    private static String texted(Message message) {
        try {
            return ((TextMessage) message).getText();
        } catch (jakarta.jms.JMSException error) {
            throw new IllegalStateException(error);
        }
    }
}
