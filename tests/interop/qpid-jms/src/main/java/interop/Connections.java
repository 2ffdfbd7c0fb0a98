package interop;

import jakarta.jms.Connection;
import jakarta.jms.InvalidClientIDException;
import jakarta.jms.JMSContext;
import jakarta.jms.JMSException;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.Session;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Client ids, heartbeats, frames, and the order in which things are closed. */
final class Connections implements Check.Group {
    @Override
    public void addTo(Check.Registry registry) {
        registry.add("client_id_in_use_is_refused", Connections::inUse);
        registry.add("client_id_is_free_after_the_close", Connections::freeAgain);
        registry.add("connection_idle_is_kept_alive", Connections::idle);
        registry.add("connection_with_small_frames", Connections::smallFrames);
        registry.add("connection_many_sessions", Connections::sessions);
        registry.add("connection_fifty_at_once", Connections::fifty);
        registry.add("connection_metadata_and_context", Connections::context);
        registry.add("close_orders", Connections::closeOrders);
        registry.add("close_of_all_by_the_connection", Connections::closeAll);
        registry.add("close_inside_a_listener", Connections::closeInListener);
        registry.add("stopped_connection_delivers_nothing", Connections::stopped);
        registry.add("many_producers_and_consumers", Connections::concurrent);
    }

    private static void inUse(Bench bench) throws Exception {
        bench.connectAs(bench.clientId());
        Connection second = bench.keep(bench.factory().createConnection());
        Expect.fails(InvalidClientIDException.class, () -> second.setClientID(bench.clientId()));
        Session session = bench.session();
        Bench.send(session, bench.queue(session), "the others go on");
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("the others go on"));
    }

    private static void freeAgain(Bench bench) throws Exception {
        for (int round = 0; round < 5; round++) {
            bench.connectAs(bench.clientId()).close();
        }
    }

    private static void idle(Bench bench) throws Exception {
        Session session = bench.session("amqp.idleTimeout=1500");
        Thread.sleep(5_000); // several times the idle timeout: real time is what is tried
        Bench.send(session, bench.queue(session), "still there");
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("still there"));
    }

    private static void smallFrames(Bench bench) throws Exception {
        Session session = bench.session("amqp.maxFrameSize=512");
        String text = "0123456789".repeat(5_000);
        Bench.send(session, bench.queue(session), text, "short", text);
        Expect.texts(session.createConsumer(bench.queue(session)), List.of(text, "short", text));
    }

    private static void sessions(Bench bench) throws Exception {
        Connection connection = bench.connect();
        List<Session> sessions = new ArrayList<>();
        for (int number = 0; number < 50; number++) {
            Session session = connection.createSession();
            Bench.send(session, bench.queue(session), "m" + number);
            sessions.add(session);
        }
        for (int number = 0; number < 50; number++) {
            Session session = sessions.get(49 - number);
            MessageConsumer consumer = session.createConsumer(bench.queue(session));
            Expect.text(consumer, "m" + number);
            consumer.close();
        }
    }

    private static void fifty(Bench bench) throws Exception {
        List<Session> sessions = new ArrayList<>();
        for (int number = 0; number < 50; number++) {
            sessions.add(bench.session());
        }
        for (Session session : sessions) {
            Bench.send(session, bench.queue(session), "m");
        }
        Expect.equal("messages", 50, bench.takeAll(bench.queue(sessions.get(0))).size());
    }

    private static void context(Bench bench) throws Exception {
        try (JMSContext context = bench.factory().createContext()) {
            Expect.equal("JMS", 3, context.getMetaData().getJMSMajorVersion());
            var queue = context.createQueue(bench.queueName());
            context.createProducer().setProperty("p", 7).setJMSType("t").send(queue, "text");
            context.createProducer().send(queue, java.util.Map.of("k", "v"));
            context.createProducer().send(queue, new byte[] {1, 2});
            try (var consumer = context.createConsumer(queue)) {
                Expect.equal("text", "text", consumer.receiveBody(String.class, Expect.SOON_MS));
                var map = consumer.receiveBody(java.util.Map.class, Expect.SOON_MS);
                Expect.equal("map", java.util.Map.of("k", "v"), map);
                Expect.equal("bytes", new byte[] {1, 2}, consumer.receiveBody(byte[].class, Expect.SOON_MS));
            }
        }
    }

    private static void closeOrders(Bench bench) throws Exception {
        for (int order = 0; order < 6; order++) {
            Connection connection = bench.connect();
            Session session = connection.createSession();
            MessageConsumer consumer = session.createConsumer(bench.queue(session));
            MessageProducer producer = session.createProducer(bench.queue(session));
            producer.send(session.createTextMessage("m" + order));
            List<AutoCloseable> parts = List.of(consumer, producer, session, connection);
            for (int part = 0; part < 4; part++) {
                int chosen = order < 4 ? (part + order) % 4 : order == 4 ? 3 - part : part;
                parts.get(chosen).close();
                parts.get(chosen).close();
            }
        }
        Session session = bench.session();
        Expect.equal("messages", Expect.series("m", 6), bench.takeAll(bench.queue(session)));
    }

    private static void closeAll(Bench bench) throws Exception {
        Connection connection = bench.connect();
        for (int sessions = 0; sessions < 5; sessions++) {
            Session session = connection.createSession(sessions % 2 == 0 ? Session.SESSION_TRANSACTED : 1);
            for (int links = 0; links < 5; links++) {
                session.createConsumer(bench.queue(session));
                session.createProducer(bench.queue(session));
                session.createConsumer(bench.topic(session));
                session.createTemporaryQueue();
            }
        }
        connection.close();
        Session session = bench.session();
        Bench.send(session, bench.queue(session), "nobody else takes it");
        Expect.texts(session.createConsumer(bench.queue(session)), List.of("nobody else takes it"));
    }

    private static void closeInListener(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        CountDownLatch closed = new CountDownLatch(1);
        consumer.setMessageListener(message -> {
            try {
                consumer.close();
                closed.countDown();
            } catch (JMSException error) {
                throw new IllegalStateException(error);
            }
        });
        Session sender = bench.session();
        Bench.send(sender, bench.queue(sender), "a", "b", "c");
        Expect.that(closed.await(Expect.SOON_MS, TimeUnit.MILLISECONDS), "the listener could not close its consumer");
        session.close();
        Expect.equal("queue", List.of("b", "c"), bench.takeAll(bench.queue(sender)));
    }

    private static void stopped(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        connection.stop();
        Session sender = bench.session();
        Bench.send(sender, bench.queue(sender), "later");
        Expect.that(consumer.receive(300) == null, "a stopped connection delivered");
        connection.start();
        Expect.texts(consumer, List.of("later"));
    }

    private static void concurrent(Bench bench) throws Exception {
        int each = 250;
        int workers = 4;
        List<String> got = java.util.Collections.synchronizedList(new ArrayList<>());
        CountDownLatch all = new CountDownLatch(each * workers);
        for (int worker = 0; worker < workers; worker++) {
            Session session = bench.session();
            session.createConsumer(bench.queue(session)).setMessageListener(message -> {
                try {
                    got.add(((jakarta.jms.TextMessage) message).getText());
                    all.countDown();
                } catch (JMSException error) {
                    throw new IllegalStateException(error);
                }
            });
        }
        List<Thread> threads = new ArrayList<>();
        List<Exception> failed = java.util.Collections.synchronizedList(new ArrayList<>());
        List<String> sent = new ArrayList<>();
        for (int worker = 0; worker < workers; worker++) {
            Session session = bench.session();
            List<String> texts = Expect.series("w" + worker + ".", each);
            sent.addAll(texts);
            threads.add(new Thread(() -> {
                try {
                    Bench.send(session, bench.queue(session), texts);
                } catch (JMSException error) {
                    failed.add(error);
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        Expect.equal("failed senders", List.of(), failed);
        Expect.that(all.await(30, TimeUnit.SECONDS), "only " + got.size() + " came");
        Expect.equal("each once", sent.stream().sorted().toList(), got.stream().sorted().toList());
    }
}
