package interop;

import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Subscriptions of JMS 2.0 that several consumers have together. */
final class SharedSubscriptions implements Check.Group {
    private static final int MANY = 40;

    @Override
    public void addTo(Check.Registry registry) {
        registry.add("shared_is_split", SharedSubscriptions::split);
        registry.add("shared_is_split_between_connections", SharedSubscriptions::splitBetweenConnections);
        registry.add("shared_ends_with_its_last_consumer", SharedSubscriptions::ends);
        registry.add("shared_with_another_selector_is_refused", SharedSubscriptions::otherSelector);
        registry.add("shared_of_two_clients_are_two", SharedSubscriptions::twoClients);
        registry.add("shared_and_shared_durable_of_one_name_are_two", SharedSubscriptions::oneName);
        registry.add("shared_durable_keeps_while_closed", SharedSubscriptions::durableKeeps);
        registry.add("shared_durable_is_split", SharedSubscriptions::durableSplit);
        registry.add("shared_durable_of_all_clients", SharedSubscriptions::durableOfAll);
        registry.add("shared_durable_unsubscribe", SharedSubscriptions::unsubscribe);
        registry.add("shared_durable_of_all_clients_unsubscribe", SharedSubscriptions::unsubscribeOfAll);
        registry.add("shared_consumer_that_goes_leaves_its_messages_to_the_other", SharedSubscriptions::leaves);
    }

    private static void split(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        MessageConsumer one = session.createSharedConsumer(bench.topic(session), "sub");
        MessageConsumer two = session.createSharedConsumer(bench.topic(session), "sub");
        splits(session, bench, one, two);
    }

    private static void splitBetweenConnections(Bench bench) throws Exception {
        Session first = bench.session();
        Session second = bench.session();
        MessageConsumer one = first.createSharedConsumer(bench.topic(first), "sub.between");
        MessageConsumer two = second.createSharedConsumer(bench.topic(second), "sub.between");
        splits(first, bench, one, two);
    }

    private static void ends(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        MessageConsumer one = session.createSharedConsumer(bench.topic(session), "sub");
        MessageConsumer two = session.createSharedConsumer(bench.topic(session), "sub");
        one.close();
        Bench.send(session, bench.topic(session), "the second has it");
        Expect.texts(two, List.of("the second has it"));
        two.close();
        Bench.send(session, bench.topic(session), "nobody has it");
        MessageConsumer next = session.createSharedConsumer(bench.topic(session), "sub");
        Expect.nothing(next);
    }

    private static void otherSelector(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        MessageConsumer one = session.createSharedConsumer(bench.topic(session), "sub", "a = 1");
        Expect.fails(JMSException.class, () -> session.createSharedConsumer(bench.topic(session), "sub", "a = 2"));
        one.close();
        session.createSharedConsumer(bench.topic(session), "sub", "a = 2").close();
    }

    private static void twoClients(Bench bench) throws Exception {
        Session one = bench.connectAs(bench.clientId() + ".1").createSession();
        Session two = bench.connectAs(bench.clientId() + ".2").createSession();
        MessageConsumer first = one.createSharedConsumer(bench.topic(one), "sub");
        MessageConsumer second = two.createSharedConsumer(bench.topic(two), "sub");
        Bench.send(one, bench.topic(one), "both");
        Expect.texts(first, List.of("both"));
        Expect.texts(second, List.of("both"));
    }

    private static void oneName(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        MessageConsumer shared = session.createSharedConsumer(bench.topic(session), "sub");
        MessageConsumer durable = session.createSharedDurableConsumer(bench.topic(session), "sub");
        Bench.send(session, bench.topic(session), "both");
        Expect.texts(shared, List.of("both"));
        Expect.texts(durable, List.of("both"));
        durable.close();
        session.unsubscribe("sub");
    }

    private static void durableKeeps(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        session.createSharedDurableConsumer(bench.topic(session), "sub").close();
        Bench.send(session, bench.topic(session), "a", "b");
        MessageConsumer consumer = session.createSharedDurableConsumer(bench.topic(session), "sub");
        Expect.texts(consumer, List.of("a", "b"));
        consumer.close();
        session.unsubscribe("sub");
    }

    private static void durableSplit(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        MessageConsumer one = session.createSharedDurableConsumer(bench.topic(session), "sub");
        MessageConsumer two = session.createSharedDurableConsumer(bench.topic(session), "sub");
        splits(session, bench, one, two);
        one.close();
        two.close();
        session.unsubscribe("sub");
    }

    private static void durableOfAll(Bench bench) throws Exception {
        Session first = bench.session();
        MessageConsumer one = first.createSharedDurableConsumer(bench.topic(first), "sub.of.all");
        Session second = bench.session();
        MessageConsumer two = second.createSharedDurableConsumer(bench.topic(second), "sub.of.all");
        splits(first, bench, one, two);
        one.close();
        two.close();
        Bench.send(first, bench.topic(first), "kept");
        MessageConsumer three = second.createSharedDurableConsumer(bench.topic(second), "sub.of.all");
        Expect.texts(three, List.of("kept"));
        three.close();
        second.unsubscribe("sub.of.all");
    }

    private static void unsubscribe(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        session.createSharedDurableConsumer(bench.topic(session), "sub").close();
        Bench.send(session, bench.topic(session), "old");
        session.unsubscribe("sub");
        MessageConsumer consumer = session.createSharedDurableConsumer(bench.topic(session), "sub");
        Expect.nothing(consumer);
        consumer.close();
        session.unsubscribe("sub");
        Expect.fails(InvalidDestinationException.class, () -> session.unsubscribe("sub"));
    }

    private static void unsubscribeOfAll(Bench bench) throws Exception {
        Session session = bench.session();
        String name = "sub.of.all.2";
        session.createSharedDurableConsumer(bench.topic(session), name).close();
        Bench.send(session, bench.topic(session), "old");
        Session other = bench.session();
        other.unsubscribe(name);
        MessageConsumer consumer = session.createSharedDurableConsumer(bench.topic(session), name);
        Expect.nothing(consumer);
        consumer.close();
        session.unsubscribe(name);
    }

    private static void leaves(Bench bench) throws Exception {
        Session first = bench.session();
        MessageConsumer one = first.createSharedConsumer(bench.topic(first), "sub.leaves");
        Session second = bench.session();
        MessageConsumer two = second.createSharedConsumer(bench.topic(second), "sub.leaves");
        List<String> sent = Expect.series("m", MANY);
        Bench.send(second, bench.topic(second), sent);
        List<String> got = new ArrayList<>();
        got.add(((jakarta.jms.TextMessage) Expect.arrives(one, "one of them")).getText());
        one.close(); // with others in its prefetch buffer
        for (int left = MANY - 1; left > 0; left--) {
            got.add(((jakarta.jms.TextMessage) Expect.arrives(two, left + " more")).getText());
        }
        Expect.nothing(two);
        Collections.sort(got);
        Expect.equal("all messages", sent.stream().sorted().toList(), got);
    }

    private static void splits(Session session, Bench bench, MessageConsumer one, MessageConsumer two)
            throws JMSException {
        List<String> sent = Expect.series("m", MANY);
        Bench.send(session, bench.topic(session), sent);
        List<String> got = Expect.rest(one);
        List<String> others = Expect.rest(two);
        Expect.that(!got.isEmpty() && !others.isEmpty(), "one consumer had all: " + got.size() + " " + others.size());
        got = new ArrayList<>(got);
        got.addAll(others);
        got.addAll(Expect.rest(one));
        Collections.sort(got);
        Expect.equal("all messages, each once", sent.stream().sorted().toList(), got);
    }
}
