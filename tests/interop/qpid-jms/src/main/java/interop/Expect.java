package interop;

import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.TextMessage;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.IntStream;

/** What is claimed of an answer: each method throws an {@link AssertionError} with both sides in it. */
final class Expect {
    static final int SOON_MS = 10_000;

    private Expect() {}

    /** Code that should fail. */
    interface Failing {
        void run() throws Exception;
    }

    static void that(boolean claim, String sentence) {
        if (!claim) {
            throw new AssertionError(sentence);
        }
    }

    static void equal(String what, Object expected, Object got) {
        if (!Objects.deepEquals(expected, got)) {
            throw new AssertionError(what + ": expected " + expected + ", got " + got);
        }
    }

    /** The failure is of this kind, not of another; it is handed back. */
    static <E extends Exception> E fails(Class<E> kind, Failing code) {
        try {
            code.run();
        } catch (Exception error) {
            if (kind.isInstance(error)) {
                return kind.cast(error);
            }
            throw new AssertionError("expected " + kind.getSimpleName() + ", got " + error, error);
        }
        throw new AssertionError("expected " + kind.getSimpleName() + ", and nothing was thrown");
    }

    /** The next message, which comes soon and has this text. */
    static Message text(MessageConsumer consumer, String expected) throws JMSException {
        Message message = arrives(consumer, expected);
        equal("text", expected, ((TextMessage) message).getText());
        return message;
    }

    static Message arrives(MessageConsumer consumer, String what) throws JMSException {
        Message message = consumer.receive(SOON_MS);
        that(message != null, "nothing came within " + SOON_MS + " ms; expected " + what);
        return message;
    }

    /** The next messages, in this order, and no other. */
    static void texts(MessageConsumer consumer, List<String> expected) throws JMSException {
        for (String each : expected) {
            text(consumer, each);
        }
        nothing(consumer);
    }

    /** The server says, by draining the link, that there is no message now. */
    static void nothing(MessageConsumer consumer) throws JMSException {
        Message message = consumer.receiveNoWait();
        if (message != null) {
            String body = message instanceof TextMessage text ? text.getText() : message.toString();
            throw new AssertionError("expected no message, got " + body);
        }
    }

    /** The texts of as many messages, in whatever order. */
    static Set<String> some(MessageConsumer consumer, int count) throws JMSException {
        Set<String> texts = new HashSet<>();
        for (int number = 0; number < count; number++) {
            texts.add(((TextMessage) arrives(consumer, (count - number) + " more")).getText());
        }
        return texts;
    }

    /** All texts that there are until the server says that there is no more. */
    static List<String> rest(MessageConsumer consumer) throws JMSException {
        List<String> texts = new ArrayList<>();
        for (Message message; (message = consumer.receiveNoWait()) != null; ) {
            texts.add(((TextMessage) message).getText());
        }
        return texts;
    }

    /** JMS hands out names untyped. */
    static List<String> names(Enumeration<?> names) {
        List<String> all = new ArrayList<>();
        while (names.hasMoreElements()) {
            all.add(names.nextElement().toString());
        }
        return all;
    }

    /** {@code prefix0} to {@code prefix<count-1>}. */
    static List<String> series(String prefix, int count) {
        return IntStream.range(0, count).mapToObj(number -> prefix + number).toList();
    }
}
