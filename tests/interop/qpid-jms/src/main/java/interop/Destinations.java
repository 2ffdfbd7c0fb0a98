package interop;

import jakarta.jms.Connection;
import jakarta.jms.InvalidDestinationException;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.Queue;
import jakarta.jms.Session;
import java.util.List;

/** Destinations that are not there, or not for this client. */
final class Destinations implements Check.Group {
    @Override
    public void addTo(Check.Registry registry) {
        registry.add("destination_unknown_to_a_producer", Destinations::producer, "administered");
        registry.add("destination_unknown_to_a_consumer", Destinations::consumer, "administered");
        registry.add("destination_unknown_to_a_browser", Destinations::browser, "administered");
        registry.add("destination_unknown_reply_queue", Destinations::replyQueue, "administered");
        registry.add("destination_without_authority", Destinations::authority, "administered", "users");
        registry.add("destination_put_inhibited", Destinations::inhibited, "administered");
        registry.add("destination_names_with_odd_characters", bench -> names(bench, "odd/topic with blanks", "żółw/漢字", "a.b/c%20d&y"));
        registry.add("destination_name_like_an_address", bench -> names(bench, "a?x=y", "a::b", "#", "*x"), "any-name");
        registry.add("destination_name_of_a_thousand_letters", bench -> names(bench, "t".repeat(1_000)));
    }

    private static Queue unknown(Session session) throws JMSException {
        return session.createQueue("jms.never.defined");
    }

    private static void goesOn(Bench bench, Session session) throws JMSException {
        Bench.send(session, bench.queue(session), "the session goes on");
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("the session goes on"));
    }

    private static void producer(Bench bench) throws Exception {
        Session session = bench.session();
        var error = Expect.fails(InvalidDestinationException.class, () -> session.createProducer(unknown(session)));
        Expect.that(error.getMessage().contains("2085"), "no 2085 in " + error);
        goesOn(bench, session);
    }

    private static void consumer(Bench bench) throws Exception {
        Session session = bench.session();
        var error = Expect.fails(InvalidDestinationException.class, () -> session.createConsumer(unknown(session)));
        Expect.that(error.getMessage().contains("2085"), "no 2085 in " + error);
        goesOn(bench, session);
    }

    private static void browser(Bench bench) throws Exception {
        Session session = bench.session();
        Expect.fails(
                InvalidDestinationException.class,
                () -> session.createBrowser(unknown(session)).getEnumeration());
        goesOn(bench, session);
    }

    private static void replyQueue(Bench bench) throws Exception {
        Connection owner = bench.connect();
        Queue gone = owner.createSession().createTemporaryQueue();
        owner.close();
        Session session = bench.session();
        Expect.fails(InvalidDestinationException.class, () -> session.createProducer(gone));
        goesOn(bench, session);
    }

    private static void authority(Bench bench) throws Exception {
        var factory = bench.factory();
        factory.setUsername(bench.option("other-user"));
        factory.setPassword(bench.option("other-password"));
        Connection connection = bench.keep(factory.createConnection());
        connection.start();
        Session session = connection.createSession();
        Queue queue = session.createQueue("jms.not.for.all");
        Expect.fails(JMSSecurityException.class, () -> session.createProducer(queue));
        Expect.fails(JMSSecurityException.class, () -> session.createConsumer(queue));
    }

    private static void inhibited(Bench bench) throws Exception {
        Session session = bench.session();
        Queue queue = session.createQueue("jms.put.inhibited");
        var error = Expect.fails(JMSException.class, () -> Bench.send(session, queue, "refused"));
        Expect.that(error.getMessage().contains("2051"), "no 2051 in " + error);
        Expect.nothing(session.createConsumer(queue));
    }

    private static void names(Bench bench, String... names) throws Exception {
        Session session = bench.session();
        for (String name : names) {
            var topic = session.createTopic(name);
            var consumer = session.createConsumer(topic);
            Bench.send(session, topic, name);
            Expect.equal("JMSDestination", topic, Expect.text(consumer, name).getJMSDestination());
            consumer.close();
        }
    }
}
