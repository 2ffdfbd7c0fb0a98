package interop;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;

/** Local transactions. */
final class Transactions implements Check.Group {
    private static final int MANY = 500;

    @Override
    public void addTo(Check.Registry registry) {
        registry.add("transaction_sends_are_seen_at_the_commit", Transactions::commit);
        registry.add("transaction_sends_rolled_back_are_never_seen", Transactions::rollback);
        registry.add("transaction_sends_rolled_back_are_not_seen_by_its_own_consumer", Transactions::ownRollback);
        registry.add("transaction_receives_rolled_back_come_again_and_are_counted", Transactions::redelivered);
        registry.add("transaction_receives_committed_are_gone", Transactions::committedReceives);
        registry.add("transaction_rolled_back_keeps_the_order", Transactions::order);
        registry.add("transaction_of_receive_and_send", Transactions::both);
        registry.add("transaction_ends_with_its_session", Transactions::sessionClosed);
        registry.add("transaction_ends_with_its_connection", Transactions::connectionClosed);
        registry.add("transaction_of_many_messages", Transactions::many);
        registry.add("transaction_over_two_queues_and_a_topic", Transactions::several);
        registry.add("transaction_with_an_anonymous_producer", Transactions::anonymous);
        registry.add("transaction_of_a_consumer_closed_before_the_commit", Transactions::consumerClosed);
        registry.add("transaction_of_a_consumer_closed_before_the_rollback", Transactions::consumerClosedRollback);
        registry.add("transaction_two_sessions_of_one_connection", Transactions::twoSessions);
        registry.add("transaction_hundred_in_a_row", Transactions::inARow);
    }

    private static void commit(Bench bench) throws Exception {
        Session session = bench.transacted();
        Session other = bench.session();
        MessageConsumer consumer = other.createConsumer(bench.queue(other));
        Bench.send(session, bench.queue(session), "a", "b");
        Expect.nothing(consumer);
        session.commit();
        Expect.texts(consumer, List.of("a", "b"));
    }

    private static void rollback(Bench bench) throws Exception {
        Session session = bench.transacted();
        Bench.send(session, bench.queue(session), "undone");
        session.rollback();
        Bench.send(session, bench.queue(session), "done");
        session.commit();
        Expect.equal("queue", List.of("done"), bench.takeAll(bench.queue(session)));
    }

    private static void ownRollback(Bench bench) throws Exception {
        Session session = bench.transacted();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        for (int time = 0; time < 3; time++) {
            Bench.send(session, bench.queue(session), "undone", "undone, too");
            Expect.nothing(consumer);
            session.rollback();
            Bench.send(session, bench.queue(session), "done");
            session.commit();
            Expect.texts(consumer, List.of("done"));
            session.commit();
        }
        Expect.nothing(consumer);
    }

    private static void redelivered(Bench bench) throws Exception {
        Session session = bench.transacted();
        Bench.send(session, bench.queue(session), "a");
        session.commit();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        for (int time = 1; time <= 4; time++) {
            Message message = Expect.text(consumer, "a");
            Expect.equal("JMSXDeliveryCount", time, message.getIntProperty("JMSXDeliveryCount"));
            Expect.equal("JMSRedelivered at " + time, time > 1, message.getJMSRedelivered());
            session.rollback();
        }
        Expect.text(consumer, "a");
        session.commit();
        Expect.nothing(consumer);
    }

    private static void committedReceives(Bench bench) throws Exception {
        Session session = bench.transacted();
        Bench.send(session, bench.queue(session), "a", "b");
        session.commit();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "a");
        session.commit();
        Expect.text(consumer, "b");
        session.rollback();
        session.close();
        Expect.equal("queue", List.of("b"), bench.takeAll(session(bench)));
    }

    private static jakarta.jms.Queue session(Bench bench) throws JMSException {
        return bench.queue(bench.session());
    }

    private static void order(Bench bench) throws Exception {
        Session session = bench.transacted();
        List<String> all = Expect.series("m", 20);
        Bench.send(session, bench.queue(session), all);
        session.commit();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        for (int count : List.of(7, 13, 20)) {
            for (String text : all.subList(0, count)) {
                Expect.text(consumer, text);
            }
            session.rollback();
        }
        Expect.texts(consumer, all);
        session.commit();
    }

    private static void both(Bench bench) throws Exception {
        Session session = bench.transacted();
        Bench.send(session, bench.queue(session), "in");
        session.commit();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "in");
        Bench.send(session, bench.secondQueue(session), "undone");
        session.rollback();
        Expect.text(consumer, "in");
        Bench.send(session, bench.secondQueue(session), "done");
        session.commit();
        Expect.equal("second queue", List.of("done"), bench.takeAll(bench.secondQueue(session)));
        Expect.nothing(consumer);
    }

    private static void sessionClosed(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session kept = connection.createSession();
        Bench.send(kept, bench.queue(kept), "in");
        Session session = connection.createSession(Session.SESSION_TRANSACTED);
        Bench.send(session, bench.secondQueue(session), "undone");
        Expect.text(session.createConsumer(bench.queue(session)), "in");
        session.close();
        Expect.texts(kept.createConsumer(bench.queue(kept)), List.of("in"));
        Expect.nothing(kept.createConsumer(bench.secondQueue(kept)));
    }

    private static void connectionClosed(Bench bench) throws Exception {
        Session other = bench.session();
        Bench.send(other, bench.queue(other), "in");
        Connection connection = bench.connect();
        Session session = connection.createSession(Session.SESSION_TRANSACTED);
        Bench.send(session, bench.secondQueue(session), "undone");
        Expect.text(session.createConsumer(bench.queue(session)), "in");
        connection.close();
        Expect.texts(other.createConsumer(bench.queue(other)), List.of("in"));
        Expect.nothing(other.createConsumer(bench.secondQueue(other)));
    }

    private static void many(Bench bench) throws Exception {
        Session session = bench.transacted();
        List<String> all = Expect.series("m", MANY);
        Bench.send(session, bench.queue(session), all);
        session.rollback();
        Bench.send(session, bench.queue(session), all);
        session.commit();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.texts(consumer, all);
        session.rollback();
        Expect.texts(consumer, all);
        session.commit();
        Expect.nothing(consumer);
    }

    private static void several(Bench bench) throws Exception {
        Session session = bench.transacted();
        Session other = bench.session();
        MessageConsumer subscriber = other.createConsumer(bench.topic(other));
        for (boolean commits : List.of(false, true)) {
            Bench.send(session, bench.queue(session), "one " + commits);
            Bench.send(session, bench.secondQueue(session), "two " + commits);
            Bench.send(session, bench.topic(session), "three " + commits);
            if (commits) {
                session.commit();
            } else {
                session.rollback();
            }
        }
        Expect.texts(subscriber, List.of("three true"));
        Expect.equal("queue", List.of("one true"), bench.takeAll(bench.queue(session)));
        Expect.equal("second queue", List.of("two true"), bench.takeAll(bench.secondQueue(session)));
    }

    private static void anonymous(Bench bench) throws Exception {
        Session session = bench.transacted();
        MessageProducer producer = session.createProducer(null);
        producer.send(bench.queue(session), session.createTextMessage("undone"));
        session.rollback();
        producer.send(bench.queue(session), session.createTextMessage("one"));
        producer.send(bench.secondQueue(session), session.createTextMessage("two"));
        session.commit();
        Expect.equal("queue", List.of("one"), bench.takeAll(bench.queue(session)));
        Expect.equal("second queue", List.of("two"), bench.takeAll(bench.secondQueue(session)));
    }

    private static void consumerClosed(Bench bench) throws Exception {
        Session session = bench.transacted();
        Bench.send(session, bench.queue(session), "a", "b", "c");
        session.commit();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "a");
        consumer.close();
        session.commit();
        Expect.equal("queue", List.of("b", "c"), bench.takeAll(bench.queue(session)));
    }

    private static void consumerClosedRollback(Bench bench) throws Exception {
        Session session = bench.transacted();
        Bench.send(session, bench.queue(session), "a", "b", "c");
        session.commit();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "a");
        consumer.close();
        session.rollback();
        Expect.equal("queue", List.of("a", "b", "c"), bench.takeAll(bench.queue(session)));
    }

    private static void twoSessions(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session one = connection.createSession(Session.SESSION_TRANSACTED);
        Session two = connection.createSession(Session.SESSION_TRANSACTED);
        Bench.send(one, bench.queue(one), "one");
        Bench.send(two, bench.queue(two), "two");
        one.rollback();
        two.commit();
        Expect.equal("queue", List.of("two"), bench.takeAll(bench.queue(one)));
    }

    private static void inARow(Bench bench) throws Exception {
        Session session = bench.transacted();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        MessageProducer producer = session.createProducer(bench.queue(session));
        for (int round = 0; round < 100; round++) {
            producer.send(session.createTextMessage("m" + round));
            session.commit();
            Expect.text(consumer, "m" + round);
            session.commit();
        }
        Expect.nothing(consumer);
    }
}
