package interop;

import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.InvalidSelectorException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;

/** Subscriptions that one consumer has for itself. */
final class Subscriptions implements Check.Group {
    @Override
    public void addTo(Check.Registry registry) {
        registry.add("subscription_each_gets_a_copy", Subscriptions::copies);
        registry.add("subscription_ends_with_its_consumer", Subscriptions::ends);
        registry.add("subscription_with_selector", Subscriptions::selector);
        registry.add("subscription_no_local", Subscriptions::noLocal);
        registry.add("durable_keeps_while_closed", Subscriptions::keeps);
        registry.add("durable_is_found_by_the_next_connection", Subscriptions::nextConnection);
        registry.add("durable_reopened_with_another_selector_starts_anew", Subscriptions::otherSelector);
        registry.add("durable_reopened_with_another_topic_starts_anew", Subscriptions::otherTopic);
        registry.add("durable_with_an_invalid_selector_is_refused", Subscriptions::invalidSelector);
        registry.add("durable_no_local", Subscriptions::durableNoLocal);
        registry.add("durable_of_two_clients_are_two", Subscriptions::twoClients);
        registry.add("durable_unacknowledged_comes_again", Subscriptions::unacknowledged);
        registry.add("unsubscribe_removes", Subscriptions::unsubscribe);
        registry.add("unsubscribe_unknown_is_invalid_destination", Subscriptions::unsubscribeUnknown);
        registry.add("unsubscribe_in_use_is_refused", Subscriptions::unsubscribeInUse);
    }

    private static void copies(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer one = session.createConsumer(bench.topic(session));
        MessageConsumer two = bench.session().createConsumer(bench.topic(session));
        Bench.send(session, bench.topic(session), "a", "b");
        Expect.text(one, "a");
        Expect.text(one, "b");
        Expect.text(two, "a");
        Expect.text(two, "b");
    }

    private static void ends(Bench bench) throws Exception {
        Session session = bench.session();
        session.createConsumer(bench.topic(session)).close();
        Bench.send(session, bench.topic(session), "missed");
        MessageConsumer consumer = session.createConsumer(bench.topic(session));
        Bench.send(session, bench.topic(session), "seen");
        Expect.texts(consumer, List.of("seen"));
    }

    private static void selector(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer consumer = session.createConsumer(bench.topic(session), "colour = 'red'");
        colours(session, bench, "red", "blue", "red");
        Expect.texts(consumer, List.of("red", "red"));
    }

    private static void noLocal(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer consumer = session.createConsumer(bench.topic(session), null, true);
        MessageConsumer local = session.createConsumer(bench.topic(session), null, false);
        Bench.send(session, bench.topic(session), "mine");
        Bench.send(bench.session(), bench.topic(session), "theirs");
        Expect.texts(consumer, List.of("theirs"));
        Expect.texts(local, List.of("mine", "theirs"));
    }

    private static void keeps(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        MessageConsumer consumer = durable(session, bench);
        Bench.send(session, bench.topic(session), "a");
        Expect.text(consumer, "a");
        consumer.close();
        Bench.send(session, bench.topic(session), "b", "c");
        consumer = durable(session, bench);
        Expect.texts(consumer, List.of("b", "c"));
        end(session, consumer);
    }

    private static void nextConnection(Bench bench) throws Exception {
        Connection first = bench.connectAs(bench.clientId());
        durable(first.createSession(), bench);
        first.close();
        Session other = bench.session();
        Bench.send(other, bench.topic(other), "kept");
        Session session = bench.connectAs(bench.clientId()).createSession();
        MessageConsumer consumer = durable(session, bench);
        Expect.texts(consumer, List.of("kept"));
        end(session, consumer);
    }

    private static void otherSelector(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        session.createDurableConsumer(bench.topic(session), "sub", "colour = 'red'", false).close();
        colours(session, bench, "red", "blue");
        MessageConsumer consumer = session.createDurableConsumer(bench.topic(session), "sub", "colour = 'blue'", false);
        Expect.nothing(consumer);
        colours(session, bench, "red", "blue", "blue");
        Expect.texts(consumer, List.of("blue", "blue"));
        end(session, consumer);
    }

    private static void otherTopic(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        durable(session, bench).close();
        Bench.send(session, bench.topic(session), "old");
        var other = session.createTopic(bench.topic(session).getTopicName() + "/other");
        MessageConsumer consumer = session.createDurableConsumer(other, "sub");
        Expect.nothing(consumer);
        Bench.send(session, bench.topic(session), "still old");
        Bench.send(session, other, "new");
        Expect.texts(consumer, List.of("new"));
        end(session, consumer);
    }

    private static void invalidSelector(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        Expect.fails(
                InvalidSelectorException.class,
                () -> session.createDurableConsumer(bench.topic(session), "sub", "colour = = 'red'", false));
        Expect.fails(InvalidDestinationException.class, () -> session.unsubscribe("sub"));
    }

    private static void durableNoLocal(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        session.createDurableConsumer(bench.topic(session), "sub", null, true).close();
        Bench.send(session, bench.topic(session), "mine");
        Bench.send(bench.session(), bench.topic(session), "theirs");
        MessageConsumer consumer = session.createDurableConsumer(bench.topic(session), "sub", null, true);
        Expect.texts(consumer, List.of("theirs"));
        end(session, consumer);
    }

    private static void twoClients(Bench bench) throws Exception {
        Session one = bench.connectAs(bench.clientId() + ".1").createSession();
        Session two = bench.connectAs(bench.clientId() + ".2").createSession();
        MessageConsumer first = durable(one, bench);
        MessageConsumer second = durable(two, bench);
        Bench.send(one, bench.topic(one), "both");
        Expect.texts(first, List.of("both"));
        Expect.texts(second, List.of("both"));
        end(one, first);
        Bench.send(one, bench.topic(one), "the other");
        Expect.texts(second, List.of("the other"));
        end(two, second);
    }

    private static void unacknowledged(Bench bench) throws Exception {
        Connection connection = bench.connectAs(bench.clientId());
        Session session = connection.createSession(Session.CLIENT_ACKNOWLEDGE);
        MessageConsumer consumer = durable(session, bench);
        Bench.send(session, bench.topic(session), "a", "b", "c");
        Expect.text(consumer, "a").acknowledge();
        Expect.text(consumer, "b");
        session.close();
        Session next = connection.createSession();
        consumer = durable(next, bench);
        Message again = Expect.text(consumer, "b");
        Expect.that(again.getJMSRedelivered(), "JMSRedelivered is not set");
        // The client gives "b" back before it ends its session: what a quick broker delivers in between counts, too.
        Expect.that(again.getIntProperty("JMSXDeliveryCount") >= 2, "JMSXDeliveryCount is below 2");
        Expect.texts(consumer, List.of("c"));
        end(next, consumer);
    }

    private static void unsubscribe(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        durable(session, bench).close();
        Bench.send(session, bench.topic(session), "old");
        session.unsubscribe("sub");
        MessageConsumer consumer = durable(session, bench);
        Expect.nothing(consumer);
        end(session, consumer);
        Expect.fails(InvalidDestinationException.class, () -> session.unsubscribe("sub"));
    }

    private static void unsubscribeUnknown(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        Expect.fails(InvalidDestinationException.class, () -> session.unsubscribe("never seen"));
        Bench.send(session, bench.queue(session), "the session goes on");
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("the session goes on"));
    }

    private static void unsubscribeInUse(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        MessageConsumer consumer = durable(session, bench);
        Expect.fails(JMSException.class, () -> session.unsubscribe("sub"));
        Bench.send(session, bench.topic(session), "still there");
        Expect.texts(consumer, List.of("still there"));
        end(session, consumer);
    }

    private static MessageConsumer durable(Session session, Bench bench) throws JMSException {
        return session.createDurableSubscriber(bench.topic(session), "sub");
    }

    private static void end(Session session, MessageConsumer consumer) throws JMSException {
        consumer.close();
        session.unsubscribe("sub");
    }

    private static void colours(Session session, Bench bench, String... colours) throws JMSException {
        MessageProducer producer = session.createProducer(bench.topic(session));
        for (String colour : colours) {
            Message message = session.createTextMessage(colour);
            message.setStringProperty("colour", colour);
            producer.send(message);
        }
        producer.close();
    }
}
