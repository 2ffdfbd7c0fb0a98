package interop;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import jakarta.jms.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.qpid.jms.JmsConnectionFactory;

/** Where one check works: its server, its destinations, and the connections that it has opened. */
final class Bench implements AutoCloseable {
    private final String name;
    private final Map<String, String> options;
    private final List<Connection> opened = new ArrayList<>();

    Bench(String name, Map<String, String> options) {
        this.name = name;
        this.options = options;
    }

    /** The value of a command line option. */
    String option(String key) {
        String value = options.get(key);
        if (value == null) {
            throw new IllegalArgumentException("--" + key + " is missing");
        }
        return value;
    }

    /** The name of this check's queue, which a server may have to be told beforehand. */
    String queueName() {
        return "jms." + name;
    }

    Queue queue(Session session) throws JMSException {
        return session.createQueue(queueName());
    }

    Queue secondQueue(Session session) throws JMSException {
        return session.createQueue(queueName() + ".2");
    }

    Topic topic(Session session) throws JMSException {
        return session.createTopic("jms/topic/" + name);
    }

    /** A client id that no other check has. */
    String clientId() {
        return "interop." + name;
    }

    JmsConnectionFactory factory(String... query) {
        return factoryAt(option("url"), query);
    }

    JmsConnectionFactory factoryAt(String url, String... query) {
        String uri = query.length == 0 ? url : url + "?" + String.join("&", query);
        JmsConnectionFactory factory = new JmsConnectionFactory(uri);
        if (options.containsKey("user")) {
            factory.setUsername(option("user"));
            factory.setPassword(option("password"));
        }
        return factory;
    }

    /** A started connection without a client id of its own. */
    Connection connect(String... query) throws JMSException {
        return started(keep(factory(query).createConnection()));
    }

    /** A started connection with a client id. */
    Connection connectAs(String clientId, String... query) throws JMSException {
        Connection connection = keep(factory(query).createConnection());
        connection.setClientID(clientId);
        return started(connection);
    }

    Session session(String... query) throws JMSException {
        return connect(query).createSession();
    }

    Session transacted(String... query) throws JMSException {
        return connect(query).createSession(Session.SESSION_TRANSACTED);
    }

    /** A connection that this check has made itself, closed at its end. */
    Connection keep(Connection connection) {
        opened.add(connection);
        return connection;
    }

    private static Connection started(Connection connection) throws JMSException {
        connection.start();
        return connection;
    }

    static void send(Session session, jakarta.jms.Destination destination, String... texts) throws JMSException {
        send(session, destination, List.of(texts));
    }

    static void send(Session session, jakarta.jms.Destination destination, List<String> texts) throws JMSException {
        MessageProducer producer = session.createProducer(destination);
        for (String text : texts) {
            producer.send(session.createTextMessage(text));
        }
        producer.close();
    }

    /** What is in a queue now, taken out over a connection of its own. */
    List<String> takeAll(Queue queue) throws JMSException {
        try (Connection connection = factory().createConnection()) {
            connection.start();
            Session session = connection.createSession();
            MessageConsumer consumer = session.createConsumer(queue);
            return Expect.rest(consumer);
        }
    }

    @Override
    public void close() throws JMSException {
        for (Connection connection : opened) {
            connection.close();
        }
    }
}
