package interop;

import jakarta.jms.DeliveryMode;
import jakarta.jms.Destination;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Headers and properties go through as they were set. */
final class Headers implements Check.Group {
    @Override
    public void addTo(Check.Registry registry) {
        registry.add("header_destination_of_a_queue", bench -> destination(bench, false));
        registry.add("header_destination_of_a_topic", bench -> destination(bench, true));
        registry.add("header_delivery_mode", Headers::deliveryMode);
        registry.add("header_priority_comes_through", Headers::priority);
        registry.add("header_priority_orders", Headers::priorityOrders);
        registry.add("header_message_id_and_timestamp", Headers::idAndTime);
        registry.add("header_message_id_switched_off", Headers::idOff);
        registry.add("header_correlation_id", Headers::correlation);
        registry.add("header_reply_to_and_type", Headers::replyTo);
        registry.add("header_group_id_and_sequence", Headers::group);
        registry.add("header_user_id", Headers::user);
        registry.add("property_of_every_type", Headers::properties);
        registry.add("property_names_and_long_values", Headers::longProperties);
        registry.add("message_received_can_be_sent_on", Headers::forwarded);
    }

    private static Message echo(Bench bench, Session session, Message message) throws JMSException {
        session.createProducer(bench.queue(session)).send(message);
        try (var consumer = session.createConsumer(bench.queue(session))) {
            return Expect.arrives(consumer, "the message");
        }
    }

    private static void destination(Bench bench, boolean onTopic) throws Exception {
        Session session = bench.session();
        Destination destination = onTopic ? bench.topic(session) : bench.queue(session);
        MessageConsumer consumer = session.createConsumer(destination);
        Bench.send(session, destination, "a");
        Message got = Expect.text(consumer, "a");
        Expect.equal("JMSDestination", destination, got.getJMSDestination());
    }

    private static void deliveryMode(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        for (int mode : List.of(DeliveryMode.PERSISTENT, DeliveryMode.NON_PERSISTENT)) {
            producer.setDeliveryMode(mode);
            producer.send(session.createTextMessage("m" + mode));
            Expect.equal("JMSDeliveryMode", mode, Expect.text(consumer, "m" + mode).getJMSDeliveryMode());
        }
    }

    private static void priority(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        for (int priority = 0; priority <= 9; priority++) {
            producer.setPriority(priority);
            producer.send(session.createTextMessage("p" + priority));
            Expect.equal("JMSPriority", priority, Expect.text(consumer, "p" + priority).getJMSPriority());
        }
    }

    private static void priorityOrders(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        for (String each : List.of("4 first", "0 last", "9 urgent", "4 second", "7 high", "9 urgent too")) {
            producer.setPriority(each.charAt(0) - '0');
            producer.send(session.createTextMessage(each));
        }
        Expect.texts(
                session.createConsumer(bench.queue(session)),
                List.of("9 urgent", "9 urgent too", "7 high", "4 first", "4 second", "0 last"));
    }

    private static void idAndTime(Bench bench) throws Exception {
        Session session = bench.session();
        long before = System.currentTimeMillis();
        Message sent = session.createTextMessage("a");
        Message got = echo(bench, session, sent);
        Expect.that(got.getJMSMessageID().startsWith("ID:"), "JMSMessageID is " + got.getJMSMessageID());
        Expect.equal("JMSMessageID", sent.getJMSMessageID(), got.getJMSMessageID());
        Expect.equal("JMSTimestamp", sent.getJMSTimestamp(), got.getJMSTimestamp());
        Expect.that(got.getJMSTimestamp() >= before, "JMSTimestamp is before the send");
        Expect.equal("JMSExpiration", 0L, got.getJMSExpiration());
        Expect.that(!got.getJMSRedelivered(), "JMSRedelivered is set");
        Expect.equal("JMSXDeliveryCount", 1, got.getIntProperty("JMSXDeliveryCount"));
    }

    private static void idOff(Bench bench) throws Exception {
        Session session = bench.session();
        MessageProducer producer = session.createProducer(bench.queue(session));
        producer.setDisableMessageID(true);
        producer.setDisableMessageTimestamp(true);
        producer.send(session.createTextMessage("a"));
        Message got = Expect.text(session.createConsumer(bench.queue(session)), "a");
        Expect.equal("JMSMessageID", null, got.getJMSMessageID());
        Expect.equal("JMSTimestamp", 0L, got.getJMSTimestamp());
    }

    private static void correlation(Bench bench) throws Exception {
        Session session = bench.session();
        List<String> ids = List.of(
                "of the application",
                "ID:AMQP_ULONG:18446744073709551615",
                "ID:AMQP_UUID:2c4d6e5f-1111-2222-3333-444455556666",
                "ID:AMQP_BINARY:00FF7F",
                "ID:a-message's");
        for (String id : ids) {
            Message message = session.createTextMessage("a");
            message.setJMSCorrelationID(id);
            Expect.equal("JMSCorrelationID", id, echo(bench, session, message).getJMSCorrelationID());
        }
        byte[] octets = "octets\u0000\u0001".getBytes(StandardCharsets.ISO_8859_1);
        Message message = session.createTextMessage("a");
        message.setJMSCorrelationIDAsBytes(octets);
        Expect.equal("bytes", octets, echo(bench, session, message).getJMSCorrelationIDAsBytes());
    }

    private static void replyTo(Bench bench) throws Exception {
        Session session = bench.session();
        Queue queue = session.createQueue("jms.elsewhere");
        Topic topic = session.createTopic("jms/topic/elsewhere");
        for (Destination destination : List.of(queue, topic)) {
            Message message = session.createTextMessage("a");
            message.setJMSReplyTo(destination);
            message.setJMSType("a type");
            Message got = echo(bench, session, message);
            Expect.equal("JMSReplyTo", destination, got.getJMSReplyTo());
            Expect.equal("JMSType", "a type", got.getJMSType());
        }
    }

    private static void group(Bench bench) throws Exception {
        Session session = bench.session();
        Message message = session.createTextMessage("a");
        message.setStringProperty("JMSXGroupID", "a group");
        message.setIntProperty("JMSXGroupSeq", 42);
        Message got = echo(bench, session, message);
        Expect.equal("JMSXGroupID", "a group", got.getStringProperty("JMSXGroupID"));
        Expect.equal("JMSXGroupSeq", 42, got.getIntProperty("JMSXGroupSeq"));
    }

    private static void user(Bench bench) throws Exception {
        Session session = bench.session("jms.populateJMSXUserID=true", "jms.username=somebody");
        Message got = echo(bench, session, session.createTextMessage("a"));
        String expected = session instanceof org.apache.qpid.jms.JmsSession jms
                ? jms.getConnection().getUsername()
                : "";
        Expect.equal("JMSXUserID", expected, got.getStringProperty("JMSXUserID"));
    }

    private static void properties(Bench bench) throws Exception {
        Session session = bench.session();
        Message message = session.createTextMessage("a");
        message.setBooleanProperty("boolean", true);
        message.setByteProperty("byte", Byte.MIN_VALUE);
        message.setShortProperty("short", Short.MAX_VALUE);
        message.setIntProperty("int", -1);
        message.setLongProperty("long", Long.MIN_VALUE);
        message.setFloatProperty("float", Float.MAX_VALUE);
        message.setDoubleProperty("double", Double.NEGATIVE_INFINITY);
        message.setStringProperty("string", "żółw");
        message.setStringProperty("null", null);
        message.setObjectProperty("object", 3L);
        Message got = echo(bench, session, message);
        Expect.equal("boolean", true, got.getObjectProperty("boolean"));
        Expect.equal("byte", Byte.MIN_VALUE, got.getObjectProperty("byte"));
        Expect.equal("short", Short.MAX_VALUE, got.getObjectProperty("short"));
        Expect.equal("int", -1, got.getObjectProperty("int"));
        Expect.equal("long", Long.MIN_VALUE, got.getObjectProperty("long"));
        Expect.equal("float", Float.MAX_VALUE, got.getObjectProperty("float"));
        Expect.equal("double", Double.NEGATIVE_INFINITY, got.getObjectProperty("double"));
        Expect.equal("string", "żółw", got.getObjectProperty("string"));
        Expect.that(got.propertyExists("null"), "the property with null is missing");
        Expect.equal("object", 3L, got.getObjectProperty("object"));
    }

    private static void longProperties(Bench bench) throws Exception {
        Session session = bench.session();
        Message message = session.createTextMessage("a");
        for (int number = 0; number < 100; number++) {
            message.setStringProperty("name_" + number + "$", "v".repeat(number * 10));
        }
        Message got = echo(bench, session, message);
        for (int number = 0; number < 100; number++) {
            Expect.equal("value", "v".repeat(number * 10), got.getStringProperty("name_" + number + "$"));
        }
        long count = Expect.names(got.getPropertyNames()).stream()
                .filter(name -> name.startsWith("name_"))
                .count();
        Expect.equal("properties", 100L, count);
    }

    private static void forwarded(Bench bench) throws Exception {
        Session session = bench.session();
        Message message = session.createTextMessage("a");
        message.setIntProperty("p", 5);
        Message first = echo(bench, session, message);
        session.createProducer(bench.secondQueue(session)).send(first);
        Message second = Expect.text(session.createConsumer(bench.secondQueue(session)), "a");
        Expect.equal("p", 5, second.getIntProperty("p"));
        Expect.equal("JMSDestination", bench.secondQueue(session), second.getJMSDestination());
        Expect.that(!second.getJMSRedelivered(), "it is called redelivered");
    }
}
