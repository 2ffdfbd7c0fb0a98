package interop;

import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.List;

/** Delivery delay of JMS 2.0. */
final class Delays implements Check.Group {
    private static final long DELAY_MS = 700;
    /** A delay in which a slow machine does other things. */
    private static final long PATIENT_MS = 3_000;
    /** JMSDeliveryTime is rounded to milliseconds. */
    private static final long ROUNDING_MS = 1;

    @Override
    public void addTo(Check.Registry registry) {
        registry.add("delay_on_queue", Delays::onQueue);
        registry.add("delay_on_topic", Delays::onTopic);
        registry.add("delay_is_overtaken_by_a_shorter_one", Delays::overtaken);
        registry.add("delay_runs_from_the_send_in_a_transaction", Delays::inTransaction);
        registry.add("delay_rolled_back_never_comes", Delays::rolledBack);
        registry.add("delay_for_a_closed_durable_subscription", Delays::durable);
    }

    private static void onQueue(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        producer.setDeliveryDelay(PATIENT_MS);
        long before = System.currentTimeMillis();
        Message sent = session.createTextMessage("later");
        producer.send(sent);
        Expect.that(sent.getJMSDeliveryTime() >= before + PATIENT_MS, "the sender's JMSDeliveryTime is too early");
        producer.setDeliveryDelay(0);
        producer.send(session.createTextMessage("now"));
        Expect.text(consumer, "now");
        Expect.nothing(consumer);
        Message later = Expect.text(consumer, "later");
        inTime(before, PATIENT_MS);
        Expect.equal("JMSDeliveryTime", sent.getJMSDeliveryTime(), later.getJMSDeliveryTime());
    }

    private static void onTopic(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer one = session.createConsumer(bench.topic(session));
        MessageConsumer two = session.createConsumer(bench.topic(session));
        MessageProducer producer = session.createProducer(bench.topic(session));
        producer.setDeliveryDelay(DELAY_MS);
        long before = System.currentTimeMillis();
        producer.send(session.createTextMessage("later"));
        Expect.text(one, "later");
        inTime(before, DELAY_MS);
        Expect.text(two, "later");
    }

    private static void overtaken(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        producer.setDeliveryDelay(PATIENT_MS);
        producer.send(session.createTextMessage("slow"));
        producer.setDeliveryDelay(DELAY_MS);
        producer.send(session.createTextMessage("fast"));
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("fast", "slow"));
    }

    private static void inTransaction(Bench bench) throws Exception {
        Session session = bench.transacted();
        MessageProducer producer = session.createProducer(bench.queue(session));
        producer.setDeliveryDelay(DELAY_MS);
        long before = System.currentTimeMillis();
        producer.send(session.createTextMessage("later"));
        session.commit();
        Expect.text(session.createConsumer(bench.queue(session)), "later");
        inTime(before, DELAY_MS);
        session.commit();
    }

    private static void rolledBack(Bench bench) throws Exception {
        Session session = bench.transacted();
        MessageProducer producer = session.createProducer(bench.queue(session));
        producer.setDeliveryDelay(DELAY_MS);
        producer.send(session.createTextMessage("undone"));
        session.rollback();
        producer.send(session.createTextMessage("kept"));
        session.commit();
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("kept"));
        session.commit();
    }

    private static void durable(Bench bench) throws Exception {
        Session session = bench.connectAs(bench.clientId()).createSession();
        session.createDurableSubscriber(bench.topic(session), "sub").close();
        MessageProducer producer = session.createProducer(bench.topic(session));
        producer.setDeliveryDelay(DELAY_MS);
        long before = System.currentTimeMillis();
        producer.send(session.createTextMessage("later"));
        MessageConsumer consumer = session.createDurableSubscriber(bench.topic(session), "sub");
        Expect.text(consumer, "later");
        inTime(before, DELAY_MS);
        consumer.close();
        session.unsubscribe("sub");
    }

    private static void inTime(long before, long delayMs) {
        long took = System.currentTimeMillis() - before;
        Expect.that(took >= delayMs - ROUNDING_MS, "it came after " + took + " ms, before its delay was over");
    }
}
