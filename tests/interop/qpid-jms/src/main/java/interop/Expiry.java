package interop;

import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;

/** Time to live. */
final class Expiry implements Check.Group {
    private static final long SHORT_MS = 300;
    private static final long LONG_MS = 600_000;

    @Override
    public void addTo(Check.Registry registry) {
        registry.add("expiry_expired_is_not_delivered", Expiry::expired);
        registry.add("expiry_of_a_durable_subscription", Expiry::subscription);
        registry.add("expiry_time_comes_through", Expiry::comesThrough);
        registry.add("expiry_waiting_receiver_gets_it_in_time", Expiry::inTime);
        registry.add("expiry_in_a_transaction", Expiry::transaction);
        registry.add("expiry_browser_sees_no_expired", Expiry::browser, "prompt-expiry");
    }

    private static MessageProducer mortal(Session session, Bench bench) throws Exception {
        MessageProducer producer = session.createProducer(bench.queue(session));
        producer.setTimeToLive(SHORT_MS);
        return producer;
    }

    private static void sleepOver() throws InterruptedException {
        Thread.sleep(2 * SHORT_MS); // real time is what is tried
    }

    private static void expired(Bench bench) throws Exception {
        Session session = bench.session();
        mortal(session, bench).send(session.createTextMessage("dies"));
        Bench.send(session, bench.queue(session), "lives");
        sleepOver();
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("lives"));
    }

    private static void subscription(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        session.createDurableConsumer(bench.topic(session), "sub").close();
        MessageProducer producer = session.createProducer(bench.topic(session));
        producer.setTimeToLive(SHORT_MS);
        producer.send(session.createTextMessage("dies"));
        producer.setTimeToLive(LONG_MS);
        producer.send(session.createTextMessage("lives"));
        sleepOver();
        MessageConsumer consumer = session.createDurableConsumer(bench.topic(session), "sub");
        Expect.texts(consumer, List.of("lives"));
        consumer.close();
        session.unsubscribe("sub");
    }

    private static void comesThrough(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        producer.setTimeToLive(LONG_MS);
        Message sent = session.createTextMessage("a");
        producer.send(sent);
        Message got = Expect.text(session.createConsumer(bench.queue(session)), "a");
        Expect.equal("JMSExpiration", sent.getJMSExpiration(), got.getJMSExpiration());
        Expect.equal("JMSExpiration - JMSTimestamp", LONG_MS, got.getJMSExpiration() - got.getJMSTimestamp());
    }

    private static void inTime(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        MessageProducer producer = session.createProducer(bench.queue(session));
        producer.setTimeToLive(5_000);
        producer.send(session.createTextMessage("in time"));
        Expect.text(consumer, "in time");
    }

    private static void transaction(Bench bench) throws Exception {
        Session session = bench.transacted();
        mortal(session, bench).send(session.createTextMessage("dies"));
        Bench.send(session, bench.queue(session), "lives");
        sleepOver();
        session.commit();
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("lives"));
        session.commit();
    }

    private static void browser(Bench bench) throws Exception {
        Session session = bench.session();
        mortal(session, bench).send(session.createTextMessage("dies"));
        sleepOver();
        Expect.that(
                !session.createBrowser(bench.queue(session)).getEnumeration().hasMoreElements(),
                "the expired message is still there to look at");
    }
}
