package interop;

import jakarta.jms.BytesMessage;
import jakarta.jms.JMSException;
import jakarta.jms.MapMessage;
import jakarta.jms.Message;
import jakarta.jms.MessageEOFException;
import jakarta.jms.ObjectMessage;
import jakarta.jms.Session;
import jakarta.jms.StreamMessage;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** All types of messages. */
final class Bodies implements Check.Group {
    private static final String UNICODE = "Zażółć gęślą jaźń \u0000 \ud83d\udce8 \u2028 漢字";

    @Override
    public void addTo(Check.Registry registry) {
        registry.add("body_text", Bodies::text);
        registry.add("body_text_null_and_empty", Bodies::textNull);
        registry.add("body_bytes", Bodies::bytes);
        registry.add("body_map", Bodies::map);
        registry.add("body_stream", Bodies::stream);
        registry.add("body_object", Bodies::object);
        registry.add("body_object_as_amqp_types", Bodies::typed);
        registry.add("body_none", Bodies::none);
        registry.add("body_types_are_told_apart", Bodies::apart);
    }

    /** What comes back of a message that is sent. */
    private static Message echo(Bench bench, Session session, Message message) throws JMSException {
        session.createProducer(bench.queue(session)).send(message);
        try (var consumer = session.createConsumer(bench.queue(session))) {
            return Expect.arrives(consumer, "the message");
        }
    }

    private static void text(Bench bench) throws Exception {
        Session session = bench.session();
        TextMessage got = (TextMessage) echo(bench, session, session.createTextMessage(UNICODE));
        Expect.equal("text", UNICODE, got.getText());
    }

    private static void textNull(Bench bench) throws Exception {
        Session session = bench.session();
        Expect.equal("null", null, ((TextMessage) echo(bench, session, session.createTextMessage())).getText());
        Expect.equal("empty", "", ((TextMessage) echo(bench, session, session.createTextMessage(""))).getText());
    }

    private static void bytes(Bench bench) throws Exception {
        Session session = bench.session();
        BytesMessage message = session.createBytesMessage();
        message.writeBoolean(true);
        message.writeByte((byte) -7);
        message.writeShort((short) -300);
        message.writeChar('ż');
        message.writeInt(Integer.MIN_VALUE);
        message.writeLong(Long.MAX_VALUE);
        message.writeFloat(Float.MIN_VALUE);
        message.writeDouble(-0.0);
        message.writeUTF(UNICODE);
        message.writeBytes(new byte[] {0, -1, 127});
        BytesMessage got = (BytesMessage) echo(bench, session, message);
        Expect.equal("boolean", true, got.readBoolean());
        Expect.equal("byte", (byte) -7, got.readByte());
        Expect.equal("short", (short) -300, got.readShort());
        Expect.equal("char", 'ż', got.readChar());
        Expect.equal("int", Integer.MIN_VALUE, got.readInt());
        Expect.equal("long", Long.MAX_VALUE, got.readLong());
        Expect.equal("float", Float.MIN_VALUE, got.readFloat());
        Expect.equal("double", -0.0, got.readDouble());
        Expect.equal("UTF", UNICODE, got.readUTF());
        byte[] rest = new byte[3];
        got.readBytes(rest);
        Expect.equal("bytes", new byte[] {0, -1, 127}, rest);
        Expect.fails(MessageEOFException.class, got::readByte);
        BytesMessage empty = (BytesMessage) echo(bench, session, session.createBytesMessage());
        Expect.equal("length of none", 0L, empty.getBodyLength());
    }

    private static final Map<String, Object> VALUES = values();

    private static Map<String, Object> values() {
        Map<String, Object> values = new HashMap<>();
        values.put("boolean", false);
        values.put("byte", (byte) -1);
        values.put("short", Short.MIN_VALUE);
        values.put("int", 65_536);
        values.put("long", -1L << 40);
        values.put("float", 1.5f);
        values.put("double", Math.PI);
        values.put("string", UNICODE);
        values.put("empty", "");
        values.put("null", null);
        return Collections.unmodifiableMap(values);
    }

    private static void map(Bench bench) throws Exception {
        Session session = bench.session();
        MapMessage message = session.createMapMessage();
        for (var entry : VALUES.entrySet()) {
            message.setObject(entry.getKey(), entry.getValue());
        }
        message.setChar("char", 'ż');
        message.setBytes("bytes", new byte[] {0, -128});
        MapMessage got = (MapMessage) echo(bench, session, message);
        for (var entry : VALUES.entrySet()) {
            Expect.equal(entry.getKey(), entry.getValue(), got.getObject(entry.getKey()));
        }
        Expect.equal("char", 'ż', got.getChar("char"));
        Expect.equal("bytes", new byte[] {0, -128}, got.getBytes("bytes"));
        Expect.that(got.itemExists("null"), "the entry with null is missing");
        Expect.equal("entries", VALUES.size() + 2, Expect.names(got.getMapNames()).size());
    }

    private static void stream(Bench bench) throws Exception {
        Session session = bench.session();
        StreamMessage message = session.createStreamMessage();
        List<String> keys = VALUES.keySet().stream().sorted().toList();
        for (String key : keys) {
            message.writeObject(VALUES.get(key));
        }
        message.writeChar('ż');
        message.writeBytes(new byte[] {1, 2, 3});
        StreamMessage got = (StreamMessage) echo(bench, session, message);
        for (String key : keys) {
            Expect.equal(key, VALUES.get(key), got.readObject());
        }
        Expect.equal("char", 'ż', got.readChar());
        byte[] bytes = new byte[3];
        got.readBytes(bytes);
        Expect.equal("bytes", new byte[] {1, 2, 3}, bytes);
        Expect.equal("end of the bytes", -1, got.readBytes(bytes));
        Expect.fails(MessageEOFException.class, got::readObject);
    }

    private static void object(Bench bench) throws Exception {
        Session session = bench.session("jms.deserializationPolicy.allowList=java");
        ArrayList<Object> value = new ArrayList<>(List.of("one", 2, 3.0));
        ObjectMessage got = (ObjectMessage) echo(bench, session, session.createObjectMessage(value));
        Expect.equal("object", value, got.getObject());
        Expect.equal("null", null, ((ObjectMessage) echo(bench, session, session.createObjectMessage())).getObject());
    }

    private static void typed(Bench bench) throws Exception {
        Session session = bench.session();
        ArrayList<Object> value = new ArrayList<>(List.of("one", 2, 3.0, true));
        ObjectMessage message = session.createObjectMessage();
        message.setBooleanProperty("JMS_AMQP_TYPED_ENCODING", true);
        message.setObject(value);
        ObjectMessage got = (ObjectMessage) echo(bench, session, message);
        Expect.equal("object", value, got.getObject());
    }

    private static void none(Bench bench) throws Exception {
        Session session = bench.session();
        Message message = session.createMessage();
        message.setStringProperty("only", "properties");
        Message got = echo(bench, session, message);
        Expect.equal("property", "properties", got.getStringProperty("only"));
    }

    private static void apart(Bench bench) throws Exception {
        Session session = bench.session();
        Map<Class<? extends Message>, Message> kinds = Map.of(
                TextMessage.class, session.createTextMessage("t"),
                BytesMessage.class, session.createBytesMessage(),
                MapMessage.class, session.createMapMessage(),
                StreamMessage.class, session.createStreamMessage(),
                ObjectMessage.class, session.createObjectMessage("o"));
        for (var kind : kinds.entrySet()) {
            Message got = echo(bench, session, kind.getValue());
            for (var other : kinds.keySet()) {
                Expect.equal(got + " is a " + other.getSimpleName(), other == kind.getKey(), other.isInstance(got));
            }
        }
    }
}
