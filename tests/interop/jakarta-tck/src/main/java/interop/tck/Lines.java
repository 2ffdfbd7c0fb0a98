package interop.tck;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** Prints a line of JSON for each test: its name, its outcome, its time and its errors. */
final class Lines implements TestExecutionListener {
    private final PrintStream out;
    private final Map<String, Long> begun = new ConcurrentHashMap<>();
    private final ThreadLocal<List<String>> errors = ThreadLocal.withInitial(ArrayList::new);

    Lines(PrintStream out) {
        this.out = out;
        // A failed test of the TCK says why in the log only. A test logs in the thread in which it ends.
        Logger root = Logger.getLogger("");
        for (Handler handler : root.getHandlers()) {
            root.removeHandler(handler);
        }
        root.addHandler(new Handler() {
            @Override
            public void publish(LogRecord logged) {
                if (logged.getLevel().intValue() >= Level.SEVERE.intValue()) {
                    errors.get().add(logged.getMessage());
                }
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        });
    }

    @Override
    public void executionStarted(TestIdentifier test) {
        if (test.isTest()) {
            begun.put(test.getUniqueId(), System.nanoTime());
            errors.get().clear();
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean ok = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
        if (test.isTest()) {
            double ms = (System.nanoTime() - begun.get(test.getUniqueId())) / 1e6;
            if (!ok) {
                result.getThrowable().ifPresent(thrown -> errors.get().add(causes(thrown)));
            }
            print(name(test), ok, ms, ok ? "" : String.join("; ", errors.get()));
        } else if (!ok) {
            result.getThrowable().ifPresent(Throwable::printStackTrace);
        }
    }

    private static String name(TestIdentifier test) {
        MethodSource source = (MethodSource) test.getSource().orElseThrow();
        String[] parts = source.getClassName().split("\\.");
        return parts[parts.length - 2] + "." + source.getMethodName();
    }

    private static String causes(Throwable thrown) {
        return thrown.getCause() == null ? thrown.toString() : thrown + ": " + causes(thrown.getCause());
    }

    private synchronized void print(String name, boolean ok, double ms, String detail) {
        out.printf("{\"check\": \"%s\", \"ok\": %s, \"ms\": %d, \"detail\": %s}%n", name, ok, Math.round(ms), quoted(detail));
        out.flush();
    }

    private static String quoted(String text) {
        var quoted = new StringBuilder("\"");
        for (char letter : text.toCharArray()) {
            if (letter == '"' || letter == '\\' || letter < ' ' || letter > '~') {
                quoted.append(String.format("\\u%04x", (int) letter));
            } else {
                quoted.append(letter);
            }
        }
        return quoted.append('"').toString();
    }
}
