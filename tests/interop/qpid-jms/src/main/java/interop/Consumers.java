package interop;

import jakarta.jms.Connection;
import jakarta.jms.MessageConsumer;
import jakarta.jms.Session;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Receivers: credit, prefetch, what happens to what they have not handed out. */
final class Consumers implements Check.Group {
    @Override
    public void addTo(Check.Registry registry) {
        for (int prefetch : List.of(0, 1, 1_000)) {
            registry.add("prefetch_" + prefetch, bench -> prefetch(bench, prefetch));
        }
        registry.add("prefetch_0_takes_no_more_than_it_is_asked_for", Consumers::noMore);
        registry.add("prefetched_goes_back_when_the_consumer_closes", Consumers::back);
        registry.add("prefetched_goes_back_when_the_connection_closes", Consumers::backByConnection);
        registry.add("prefetched_goes_back_to_a_waiting_consumer", Consumers::backToWaiting);
        registry.add("receive_waits_and_times_out", Consumers::timesOut);
        registry.add("receive_wakes_a_waiting_receiver", Consumers::wakes);
        registry.add("listener_gets_all_in_order", Consumers::listener);
        registry.add("two_consumers_share_a_queue", Consumers::share);
        registry.add("consumer_no_local_filter_on_a_queue_is_no_matter", Consumers::noLocal);
    }

    private static void prefetch(Bench bench, int prefetch) throws Exception {
        Session session = bench.session("jms.prefetchPolicy.all=" + prefetch);
        List<String> all = Expect.series("m", 150);
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Bench.send(session, bench.queue(session), all);
        Expect.texts(consumer, all);
    }

    private static void noMore(Bench bench) throws Exception {
        Session session = bench.session("jms.prefetchPolicy.all=0");
        Bench.send(session, bench.queue(session), "a", "b", "c");
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Expect.text(consumer, "a");
        Expect.equal("the others are free", List.of("b", "c"), bench.takeAll(bench.queue(session)));
    }

    private static void back(Bench bench) throws Exception {
        Session session = bench.session();
        List<String> all = Expect.series("m", 100);
        Bench.send(session, bench.queue(session), all);
        MessageConsumer first = session.createConsumer(bench.queue(session));
        Expect.text(first, "m0");
        first.close();
        MessageConsumer second = session.createConsumer(bench.queue(session));
        for (String text : all.subList(1, all.size())) {
            int count = Expect.text(second, text).getIntProperty("JMSXDeliveryCount");
            Expect.that(count <= 2, "JMSXDeliveryCount of " + text + ", which went out twice, is " + count);
        }
        Expect.nothing(second);
    }

    private static void backByConnection(Bench bench) throws Exception {
        Connection connection = bench.connect();
        Session session = connection.createSession();
        List<String> all = Expect.series("m", 100);
        Bench.send(session, bench.queue(session), all);
        Expect.text(session.createConsumer(bench.queue(session)), "m0");
        connection.close();
        Session other = bench.session();
        Expect.texts(other.createConsumer(bench.queue(other)), all.subList(1, all.size()));
    }

    private static void backToWaiting(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer first = session.createConsumer(bench.queue(session));
        List<String> all = Expect.series("m", 50);
        Bench.send(session, bench.queue(session), all);
        Expect.text(first, "m0");
        Session other = bench.session();
        MessageConsumer second = other.createConsumer(bench.queue(other));
        first.close();
        List<String> got = new ArrayList<>();
        while (got.size() < all.size() - 1) {
            got.add(((TextMessage) Expect.arrives(second, "more than " + got.size())).getText());
        }
        Expect.equal("all", all.stream().skip(1).sorted().toList(), got.stream().sorted().toList());
    }

    private static void timesOut(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        long before = System.nanoTime();
        Expect.that(consumer.receive(400) == null, "something came");
        long took = (System.nanoTime() - before) / 1_000_000;
        Expect.that(took >= 399 && took < 5_000, "it took " + took + " ms");
    }

    private static void wakes(Bench bench) throws Exception {
        Session session = bench.session("jms.prefetchPolicy.all=0");
        MessageConsumer consumer = session.createConsumer(bench.queue(session));
        Session sender = bench.session();
        Thread sending = new Thread(() -> {
            try {
                Thread.sleep(300); // until the receiver waits
                Bench.send(sender, bench.queue(sender), "woken");
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        });
        sending.start();
        Expect.text(consumer, "woken");
        sending.join();
    }

    private static void listener(Bench bench) throws Exception {
        Session session = bench.session();
        List<String> all = Expect.series("m", 500);
        List<String> got = new ArrayList<>();
        CountDownLatch done = new CountDownLatch(all.size());
        session.createConsumer(bench.queue(session)).setMessageListener(message -> {
            try {
                got.add(((TextMessage) message).getText());
            } catch (jakarta.jms.JMSException error) {
                throw new IllegalStateException(error);
            }
            done.countDown();
        });
        Session sender = bench.session();
        Bench.send(sender, bench.queue(sender), all);
        Expect.that(done.await(30, TimeUnit.SECONDS), "only " + got.size() + " came");
        Expect.equal("order", all, got);
    }

    private static void share(Bench bench) throws Exception {
        Session one = bench.session("jms.prefetchPolicy.all=1");
        Session two = bench.session("jms.prefetchPolicy.all=1");
        MessageConsumer first = one.createConsumer(bench.queue(one));
        MessageConsumer second = two.createConsumer(bench.queue(two));
        Bench.send(one, bench.queue(one), Expect.series("m", 10));
        List<String> got = new ArrayList<>();
        got.add(((TextMessage) Expect.arrives(first, "the first one's")).getText());
        got.add(((TextMessage) Expect.arrives(second, "the second one's")).getText());
        while (got.size() < 10) {
            int before = got.size();
            got.addAll(Expect.rest(first));
            got.addAll(Expect.rest(second));
            Expect.that(got.size() > before, "only " + got + " came");
        }
        Expect.equal("each once", Expect.series("m", 10), got.stream().sorted().toList());
    }

    private static void noLocal(Bench bench) throws Exception {
        Session session = bench.session();
        MessageConsumer consumer = session.createConsumer(bench.queue(session), null, false);
        Bench.send(session, bench.queue(session), "own");
        Expect.texts(consumer, List.of("own"));
    }
}
