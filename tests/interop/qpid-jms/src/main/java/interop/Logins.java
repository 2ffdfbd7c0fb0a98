package interop;

import jakarta.jms.Connection;
import jakarta.jms.JMSException;
import jakarta.jms.JMSSecurityException;
import jakarta.jms.Session;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.qpid.jms.JmsConnectionFactory;

/** Logins with a password, and TLS. */
final class Logins implements Check.Group {
    @Override
    public void addTo(Check.Registry registry) {
        registry.add("login_anonymous", Logins::anonymous, "anonymous");
        registry.add("login_anonymous_is_refused", Logins::anonymousRefused, "users");
        registry.add("login_plain", bench -> login(bench, "PLAIN"), "users");
        registry.add("login_plain_wrong_password", bench -> wrong(bench, "PLAIN", "user"), "users");
        registry.add("login_plain_unknown_user", bench -> wrong(bench, "PLAIN", "nobody"), "users");
        registry.add("login_scram", bench -> login(bench, "SCRAM-SHA-256"), "users", "scram");
        registry.add("login_scram_wrong_password", bench -> wrong(bench, "SCRAM-SHA-256", "user"), "users", "scram");
        registry.add("login_scram_unknown_user", bench -> wrong(bench, "SCRAM-SHA-256", "nobody"), "users", "scram");
        registry.add("login_of_the_clients_choice", bench -> works(bench, bench.factory()), "users");
        registry.add("tls", Logins::tls, "tls");
        registry.add("tls_with_an_unknown_authority", Logins::untrusted, "tls");
        registry.add("tls_server_hears_plain_amqp", Logins::plainToTls, "tls");
        registry.add("plain_server_hears_tls", Logins::tlsToPlain);
    }

    private static void works(Bench bench, JmsConnectionFactory factory) throws Exception {
        try (Connection connection = factory.createConnection()) {
            connection.start();
            Session session = connection.createSession();
            Bench.send(session, bench.queue(session), "a");
            Expect.texts(session.createConsumer(bench.queue(session)), List.of("a"));
        }
    }

    private static JmsConnectionFactory unnamed(Bench bench, String... query) {
        JmsConnectionFactory factory = bench.factory(query);
        factory.setUsername(null);
        factory.setPassword(null);
        return factory;
    }

    private static void anonymous(Bench bench) throws Exception {
        works(bench, unnamed(bench, "amqp.saslMechanisms=ANONYMOUS"));
        works(bench, unnamed(bench, "amqp.saslLayer=false"));
    }

    private static void anonymousRefused(Bench bench) throws Exception {
        Expect.fails(
                JMSSecurityException.class,
                () -> unnamed(bench, "amqp.saslMechanisms=ANONYMOUS").createConnection().start());
        Expect.fails(JMSException.class, () -> {
            JmsConnectionFactory bare = unnamed(bench, "amqp.saslLayer=false", "jms.connectTimeout=5000");
            works(bench, bare);
        });
    }

    private static void login(Bench bench, String mechanism) throws Exception {
        works(bench, bench.factory("amqp.saslMechanisms=" + mechanism));
    }

    private static void wrong(Bench bench, String mechanism, String user) throws Exception {
        JmsConnectionFactory factory = bench.factory("amqp.saslMechanisms=" + mechanism);
        factory.setUsername(user.equals("user") ? bench.option("user") : user);
        factory.setPassword("wrong");
        Expect.fails(JMSSecurityException.class, () -> factory.createConnection().start());
        works(bench, bench.factory());
    }

    private static String[] trusting(Bench bench) {
        return new String[] {
            "transport.trustStoreLocation=" + URLEncoder.encode(bench.option("trust"), StandardCharsets.UTF_8),
            "transport.trustStorePassword=" + bench.option("trust-password"),
            "transport.trustStoreType=PKCS12",
        };
    }

    private static void tls(Bench bench) throws Exception {
        works(bench, bench.factoryAt(bench.option("tls-url"), trusting(bench)));
    }

    private static void untrusted(Bench bench) throws Exception {
        Expect.fails(JMSException.class, () -> works(bench, bench.factoryAt(bench.option("tls-url"))));
        works(bench, bench.factoryAt(bench.option("tls-url"), trusting(bench)));
    }

    private static void plainToTls(Bench bench) throws Exception {
        String url = bench.option("tls-url").replace("amqps:", "amqp:");
        Expect.fails(JMSException.class, () -> works(bench, bench.factoryAt(url, "jms.connectTimeout=5000")));
        works(bench, bench.factoryAt(bench.option("tls-url"), trusting(bench)));
    }

    private static void tlsToPlain(Bench bench) throws Exception {
        String url = bench.option("url").replace("amqp:", "amqps:");
        Expect.fails(
                JMSException.class,
                () -> works(bench, bench.factoryAt(url, "jms.connectTimeout=5000", "transport.trustAll=true")));
        works(bench, bench.factory());
    }
}
