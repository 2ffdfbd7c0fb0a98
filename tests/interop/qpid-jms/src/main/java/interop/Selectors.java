package interop;

import jakarta.jms.InvalidSelectorException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;
import java.util.Set;

/** Message selectors. */
final class Selectors implements Check.Group {
    /** Selectors, and which of the messages 0 to 9 they choose. */
    private static final List<Case> CASES = List.of(
            new Case("number = 3", 3),
            new Case("number <> 3 AND number < 5", 0, 1, 2, 4),
            new Case("number * 2 + 1 >= 17", 8, 9),
            new Case("number BETWEEN 2 AND 4", 2, 3, 4),
            new Case("number NOT BETWEEN 1 AND 8", 0, 9),
            new Case("word IN ('w1', 'w7', 'other')", 1, 7),
            new Case("word NOT IN ('w1') AND number < 3", 0, 2),
            new Case("word LIKE 'w_' AND number > 7", 8, 9),
            new Case("sentence LIKE '%5 per\\%cent' ESCAPE '\\'", 5),
            new Case("even", 0, 2, 4, 6, 8),
            new Case("NOT even AND number > 6", 7, 9),
            new Case("even = TRUE AND number = 2", 2),
            new Case("sometimes IS NULL AND number > 7", 8, 9),
            new Case("sometimes IS NOT NULL", 0, 1, 2),
            new Case("half = 1.5", 3),
            new Case("half > 4 OR big = 9007199254740993", 1, 9),
            new Case("JMSPriority > 7", 8, 9),
            new Case("JMSType = 'type4'", 4),
            new Case("JMSCorrelationID = 'c6'", 6),
            new Case("JMSDeliveryMode = 'NON_PERSISTENT'", 5),
            new Case("JMSTimestamp > 0 AND number = 1", 1),
            new Case("JMSXGroupID = 'group' AND number = 0", 0),
            new Case("missing = 1"),
            new Case("NOT (missing = 1)"),
            new Case("number = '3'"));

    private static final List<String> INVALID = List.of(
            "number = ", "= 3", "number === 3", "number BETWEEN 1", "word LIKE 3", "word IN ()", "NOT", "(number = 3",
            "number = 'unclosed");

    private record Case(String selector, int... chosen) {}

    @Override
    public void addTo(Check.Registry registry) {
        registry.add("selector_chooses", Selectors::chooses);
        registry.add("selector_leaves_the_rest", Selectors::leaves);
        registry.add("selector_invalid_is_refused", Selectors::invalid);
        registry.add("selector_of_two_consumers", bench -> two(bench, false), "several-selectors");
        registry.add("selector_of_two_consumers_with_priorities", bench -> two(bench, true), "several-selectors");
        registry.add("selector_with_a_waiting_consumer", Selectors::waiting);
        registry.add("selector_by_message_id", Selectors::messageId);
    }

    private static void fill(Bench bench, Session session, boolean priorities, boolean grouped) throws JMSException {
        MessageProducer producer = session.createProducer(bench.queue(session));
        for (int number = 0; number < 10; number++) {
            Message message = session.createTextMessage("m" + number);
            message.setIntProperty("number", number);
            message.setStringProperty("word", "w" + number);
            message.setStringProperty("sentence", "about " + number + " per%cent");
            message.setBooleanProperty("even", number % 2 == 0);
            message.setDoubleProperty("half", number / 2.0);
            message.setLongProperty("big", number == 1 ? (1L << 53) + 1 : 1L << 53);
            if (number < 3) {
                message.setByteProperty("sometimes", (byte) number);
            }
            if (grouped) {
                message.setStringProperty("JMSXGroupID", "group");
            }
            message.setJMSType("type" + number);
            message.setJMSCorrelationID("c" + number);
            producer.send(message, number == 5 ? 1 : 2, priorities ? number : 4, 0);
        }
        producer.close();
    }

    private static void chooses(Bench bench) throws Exception {
        Session session = bench.session();
        fill(bench, session, true, true);
        StringBuilder wrong = new StringBuilder();
        for (Case each : CASES) {
            List<String> expected = java.util.Arrays.stream(each.chosen).mapToObj(number -> "m" + number).toList();
            List<String> got = new java.util.ArrayList<>();
            try {
                var browsed = session.createBrowser(bench.queue(session), each.selector).getEnumeration();
                while (browsed.hasMoreElements()) {
                    got.add(((jakarta.jms.TextMessage) browsed.nextElement()).getText());
                }
            } catch (JMSException error) {
                got.add(error.toString());
            }
            if (!got.stream().sorted().toList().equals(expected)) {
                wrong.append("\n%s: expected %s, got %s".formatted(each.selector, expected, got));
            }
        }
        bench.takeAll(bench.queue(session));
        Expect.that(wrong.isEmpty(), "wrongly chosen:" + wrong);
    }

    private static void leaves(Bench bench) throws Exception {
        Session session = bench.session();
        fill(bench, session, true, false);  // the order within a group would go before priorities
        MessageConsumer odd = session.createConsumer(bench.queue(session), "number = 3 OR number = 4");
        Expect.texts(odd, List.of("m4", "m3"));
        odd.close();
        List<String> rest = List.of("m9", "m8", "m7", "m6", "m5", "m2", "m1", "m0");
        Expect.equal("rest, by priority", rest, bench.takeAll(bench.queue(session)));
    }

    private static void invalid(Bench bench) throws Exception {
        Session session = bench.session();
        for (String selector : INVALID) {
            try {
                session.createConsumer(bench.queue(session), selector);
            } catch (InvalidSelectorException expected) {
                continue;
            }
            throw new AssertionError("nothing was thrown for: " + selector);
        }
        Bench.send(session, bench.queue(session), "the session goes on");
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("the session goes on"));
    }

    private static void two(Bench bench, boolean priorities) throws Exception {
        Session session = bench.session();
        MessageConsumer even = session.createConsumer(bench.queue(session), "even");
        MessageConsumer odd = session.createConsumer(bench.queue(session), "even = FALSE");
        fill(bench, session, priorities, true);
        Expect.equal("even", Set.of("m0", "m2", "m4", "m6", "m8"), Expect.some(even, 5));
        Expect.equal("odd", Set.of("m1", "m3", "m5", "m7", "m9"), Expect.some(odd, 5));
        Expect.nothing(even);
        Expect.nothing(odd);
    }

    private static void waiting(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer consumer = session.createConsumer(bench.queue(session), "number = 9");
        Session sender = bench.session();
        fill(bench, sender, true, true);
        Expect.texts(consumer, List.of("m9"));
        consumer.close();
        Expect.equal("left", 9, bench.takeAll(bench.queue(session)).size());
    }

    private static void messageId(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        Message one = session.createTextMessage("one");
        Message two = session.createTextMessage("two");
        producer.send(one);
        producer.send(two);
        String selector = "JMSMessageID = '" + two.getJMSMessageID() + "'";
        Expect.texts(session.createConsumer(bench.queue(session), selector), List.of("two"));
        Expect.equal("left", List.of("one"), bench.takeAll(bench.queue(session)));
    }
}
