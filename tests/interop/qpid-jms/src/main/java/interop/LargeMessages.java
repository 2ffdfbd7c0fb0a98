package interop;

import jakarta.jms.BytesMessage;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32;

/** Messages of many frames. */
final class LargeMessages implements Check.Group {
    private static final int MEGABYTE = 1_000_000;

    @Override
    public void addTo(Check.Registry registry) {
        for (int megabytes : List.of(1, 20, 100)) {
            registry.add("large_%d_megabytes".formatted(megabytes), bench -> size(bench, megabytes * MEGABYTE));
        }
        registry.add("large_text_beside_small_ones", LargeMessages::text);
        registry.add("large_in_a_transaction", LargeMessages::transaction);
        registry.add("large_on_a_topic", LargeMessages::topic);
    }

    private static BytesMessage random(Session session, int size) throws JMSException {
        byte[] octets = new byte[size];
        new Random(size).nextBytes(octets);
        BytesMessage message = session.createBytesMessage();
        message.writeBytes(octets);
        message.setLongProperty("crc", crc(octets));
        return message;
    }

    private static void same(BytesMessage got, int size) throws JMSException {
        Expect.equal("length", (long) size, got.getBodyLength());
        byte[] octets = new byte[size];
        got.readBytes(octets);
        Expect.equal("CRC", got.getLongProperty("crc"), crc(octets));
    }

    private static long crc(byte[] octets) {
        CRC32 crc = new CRC32();
        crc.update(octets);
        return crc.getValue();
    }

    private static void size(Bench bench, int size) throws Exception {
        Session session = bench.session("jms.prefetchPolicy.all=1", "jms.requestTimeout=60000");
        session.createProducer(bench.queue(session)).send(random(session, size));
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        BytesMessage got = (BytesMessage) consumer.receive(60_000);
        Expect.that(got != null, "nothing came within 60 s");
        same(got, size);
    }

    private static void text(Bench bench) throws Exception {
        Session session = bench.session();
        String large = "żółw ".repeat(300_000);
        Bench.send(session, bench.queue(session), "small", large, "small too");
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("small", large, "small too"));
    }

    private static void transaction(Bench bench) throws Exception {
        Session session = bench.transacted();
        var producer = session.createProducer(bench.queue(session));
        producer.send(random(session, 3 * MEGABYTE));
        session.rollback();
        producer.send(random(session, 2 * MEGABYTE));
        session.commit();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        same((BytesMessage) Expect.arrives(consumer, "2 MB"), 2 * MEGABYTE);
        session.rollback();
        same((BytesMessage) Expect.arrives(consumer, "2 MB again"), 2 * MEGABYTE);
        session.commit();
        Expect.nothing(consumer);
    }

    private static void topic(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer one = session.createConsumer(bench.topic(session));
        MessageConsumer two = session.createConsumer(bench.topic(session));
        session.createProducer(bench.topic(session)).send(random(session, 2 * MEGABYTE));
        same((BytesMessage) Expect.arrives(one, "2 MB"), 2 * MEGABYTE);
        same((BytesMessage) Expect.arrives(two, "2 MB"), 2 * MEGABYTE);
    }
}
