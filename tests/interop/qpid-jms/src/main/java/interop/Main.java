package interop;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs checks against a server and prints one line of JSON for each.
 *
 * <p>{@code list} prints the names and needs of all checks; {@code run --url U [--user U --password P] [--has
 * a,b] [NAME...]} runs those whose needs the server has. Needs: {@code administered} (destinations exist only when an
 * administrator has defined them, as {@code destinations.mqsc} does), {@code anonymous} (nobody needs a password) or
 * {@code users} (everybody does, {@code --other-user} too), {@code scram}, {@code tls} ({@code --tls-url}, {@code
 * --trust}, {@code --trust-password}), {@code prompt-expiry} (a browser sees no expired message), {@code
 * several-selectors} (consumers of one queue whose selectors differ all find theirs), {@code any-name} (no character of
 * an address means something to the server). Programs of other languages know more: {@code settles-second}
 * (rcv-settle-mode second), {@code prompt-drain} (a drain is answered after all that the queue had), {@code
 * answers-every-drain} (with a flow, even where no credit is left, as 2.6.7 of AMQP 1.0 can be read).
 */
public final class Main {
    private static final int LIMIT_S = 120;
    private static final List<Check.Group> GROUPS = List.of(
            new Delays(),
            new Subscriptions(),
            new SharedSubscriptions(),
            new Transactions(),
            new Acknowledgements(),
            new Temporaries(),
            new Browsers(),
            new Connections(),
            new Bodies(),
            new Headers(),
            new Expiry(),
            new Selectors(),
            new Producers(),
            new Consumers(),
            new LargeMessages(),
            new Logins(),
            new Destinations());

    private Main() {}

    public static void main(String[] arguments) {
        List<Check> checks = new ArrayList<>();
        for (Check.Group group : GROUPS) {
            group.addTo((name, body, needs) -> checks.add(new Check(name, Set.of(needs), body)));
        }
        if (arguments.length > 0 && arguments[0].equals("list")) {
            for (Check check : checks) {
                System.out.println((check.name() + " " + String.join(" ", check.needs())).strip());
            }
            return;
        }
        Map<String, String> options = new LinkedHashMap<>();
        List<String> chosen = new ArrayList<>();
        for (int index = 1; index < arguments.length; index++) {
            if (arguments[index].startsWith("--")) {
                options.put(arguments[index].substring(2), arguments[++index]);
            } else {
                chosen.add(arguments[index]);
            }
        }
        Set<String> has = Set.of(options.getOrDefault("has", "").split(","));
        for (Check check : checks) {
            if ((chosen.isEmpty() || chosen.contains(check.name())) && has.containsAll(check.needs())) {
                System.out.println(tried(check, options));
            }
        }
        System.exit(0); // a client's thread that hangs is in its check's line already
    }

    private static String tried(Check check, Map<String, String> options) {
        ExecutorService one = Executors.newSingleThreadExecutor();
        Bench bench = new Bench(check.name(), options);
        long begun = System.nanoTime();
        String detail = null;
        try {
            Future<?> running = one.submit(() -> {
                try (bench) {
                    check.body().run(bench);
                }
                return null;
            });
            running.get(LIMIT_S, TimeUnit.SECONDS);
        } catch (ExecutionException error) {
            detail = told(error.getCause());
        } catch (TimeoutException error) {
            detail = "not done within " + LIMIT_S + " s";
        } catch (InterruptedException error) {
            detail = "interrupted";
        } finally {
            one.shutdownNow();
        }
        long ms = (System.nanoTime() - begun) / 1_000_000;
        return "{\"check\":%s,\"ok\":%s,\"ms\":%d,\"detail\":%s}"
                .formatted(quoted(check.name()), detail == null, ms, quoted(detail == null ? "" : detail));
    }

    /** An error, and the lines of ours that led to it. */
    private static String told(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text, true));
        String[] lines = text.toString().split("\n");
        return Arrays.stream(lines)
                .filter(line -> !line.startsWith("\tat ") || line.startsWith("\tat interop."))
                .limit(12)
                .reduce((one, two) -> one + "\n" + two)
                .orElse("");
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each == '"' || each == '\\') {
                quoted.append('\\').append(each);
            } else if (each < ' ' || each > '~') {
                quoted.append("\\u%04x".formatted((int) each));
            } else {
                quoted.append(each);
            }
        }
        return quoted.append('"').toString();
    }
}
