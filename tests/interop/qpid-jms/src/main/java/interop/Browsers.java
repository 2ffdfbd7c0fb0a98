package interop;

import jakarta.jms.InvalidSelectorException;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.QueueBrowser;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;

/** Looking at a queue without taking from it. */
final class Browsers implements Check.Group {
    @Override
    public void addTo(Check.Registry registry) {
        registry.add("browser_leaves_all_in_order", Browsers::leaves);
        registry.add("browser_with_selector", Browsers::selector);
        registry.add("browser_with_an_invalid_selector", Browsers::invalid);
        registry.add("browser_of_an_empty_queue_ends", Browsers::empty);
        registry.add("browser_sees_nothing_uncommitted", Browsers::uncommitted);
        registry.add("browser_of_more_than_its_prefetch", Browsers::many);
        registry.add("browser_beside_a_consumer", Browsers::beside);
        registry.add("browser_does_not_count_as_a_delivery", Browsers::uncounted);
        registry.add("browser_twice", Browsers::twice);
    }

    private static void leaves(Bench bench) throws Exception {
        Session session = bench.session();
        List<String> all = Expect.series("m", 20);
        Bench.send(session, bench.queue(session), all);
        Expect.equal("browsed", all, texts(session.createBrowser(bench.queue(session))));
        Expect.texts(session.createConsumer(bench.queue(session)), all);
    }

    private static void selector(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        for (int number = 0; number < 10; number++) {
            Message message = session.createTextMessage("m" + number);
            message.setIntProperty("number", number);
            producer.send(message);
        }
        QueueBrowser browser = session.createBrowser(bench.queue(session), "number BETWEEN 3 AND 5");
        Expect.equal("browsed", List.of("m3", "m4", "m5"), texts(browser));
        Expect.texts(session.createConsumer(bench.queue(session)), Expect.series("m", 10));
    }

    private static void invalid(Bench bench) throws Exception {
        Session session = bench.session();
        Expect.fails(
                InvalidSelectorException.class,
                () -> texts(session.createBrowser(bench.queue(session), "number BETWEEN 3")));
    }

    private static void empty(Bench bench) throws Exception {
        Session session = bench.session();
        Expect.equal("browsed", List.of(), texts(session.createBrowser(bench.queue(session))));
    }

    private static void uncommitted(Bench bench) throws Exception {
        Session session = bench.transacted();
        Bench.send(session, bench.queue(session), "not yet");
        Session other = bench.session();
        Expect.equal("before the commit", List.of(), texts(other.createBrowser(bench.queue(other))));
        session.commit();
        Expect.equal("after the commit", List.of("not yet"), texts(other.createBrowser(bench.queue(other))));
        bench.takeAll(bench.queue(session));
    }

    private static void many(Bench bench) throws Exception {
        Session session = bench.session("jms.prefetchPolicy.queueBrowserPrefetch=7");
        List<String> all = Expect.series("m", 100);
        Bench.send(session, bench.queue(session), all);
        Expect.equal("browsed", all, texts(session.createBrowser(bench.queue(session))));
        bench.takeAll(bench.queue(session));
    }

    private static void beside(Bench bench) throws Exception {
        Session session = bench.session("jms.prefetchPolicy.queuePrefetch=1");
        Bench.send(session, bench.queue(session), "a", "b", "c");
        QueueBrowser browser = session.createBrowser(bench.queue(session));
        Enumeration<?> browsed = browser.getEnumeration();
        Expect.that(browsed.hasMoreElements(), "nothing to browse");
        Expect.equal("first", "a", ((TextMessage) browsed.nextElement()).getText());
        Session other = bench.session();
        MessageConsumer consumer = other.createConsumer(bench.queue(other));
        Expect.texts(consumer, List.of("a", "b", "c"));
        browser.close();
    }

    private static void uncounted(Bench bench) throws Exception {
        Session session = bench.session();
        Bench.send(session, bench.queue(session), "a");
        texts(session.createBrowser(bench.queue(session)));
        texts(session.createBrowser(bench.queue(session)));
        Message message = Expect.text(session.createConsumer(bench.queue(session)), "a");
        Expect.that(!message.getJMSRedelivered(), "it is called redelivered");
        Expect.equal("JMSXDeliveryCount", 1, message.getIntProperty("JMSXDeliveryCount"));
    }

    private static void twice(Bench bench) throws Exception {
        Session session = bench.session();
        Bench.send(session, bench.queue(session), "a");
        QueueBrowser browser = session.createBrowser(bench.queue(session));
        Expect.equal("first look", List.of("a"), seen(browser));
        Bench.send(session, bench.queue(session), "b");
        Expect.equal("second look", List.of("a", "b"), seen(browser));
        browser.close();
        bench.takeAll(bench.queue(session));
    }

    private static List<String> texts(QueueBrowser browser) throws JMSException {
        List<String> texts = seen(browser);
        browser.close();
        return texts;
    }

    private static List<String> seen(QueueBrowser browser) throws JMSException {
        List<String> texts = new ArrayList<>();
        for (Enumeration<?> browsed = browser.getEnumeration(); browsed.hasMoreElements(); ) {
            texts.add(((TextMessage) browsed.nextElement()).getText());
        }
        return texts;
    }
}
