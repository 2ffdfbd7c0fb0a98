package interop.tck;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * Runs tests of the TCK side by side and prints one line of JSON for each: {@code run --url U NAME...}, where a name is
 * that of a test's package and of its method.
 */
public final class Main {
    private static final String TESTS = "com.sun.ts.tests.jms.core20.";

    private Main() {}

    public static void main(String[] arguments) throws IOException {
        if (arguments.length < 3 || !arguments[0].equals("run") || !arguments[1].equals("--url")) {
            throw new IllegalArgumentException("run --url U NAME...");
        }
        List<String> names = List.of(arguments).subList(3, arguments.length);
        configure(arguments[2]);
        var ours = System.out;
        // The TCK prints to the standard output, too.
        System.setOut(new java.io.PrintStream(OutputStream.nullOutputStream()));
        var request = LauncherDiscoveryRequestBuilder.request();
        for (String name : names) {
            int dot = name.indexOf('.');
            request.selectors(
                    selectMethod(TESTS + name.substring(0, dot) + ".ClientIT", name.substring(dot + 1)));
        }
        LauncherFactory.create().execute(sideBySide(request, names.size()), new Lines(ours));
        System.exit(0);
    }

    private static LauncherDiscoveryRequest sideBySide(LauncherDiscoveryRequestBuilder request, int tests) {
        String threads = String.valueOf(tests);
        return request.configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
                .configurationParameter("junit.jupiter.execution.parallel.mode.default", "concurrent")
                .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
                .configurationParameter("junit.jupiter.execution.parallel.config.fixed.parallelism", threads)
                .configurationParameter("junit.jupiter.execution.parallel.config.fixed.max-pool-size", threads)
                .build();
    }

    /** Sets what the tests read: system properties, and the TCK's own file of properties in the temporary folder. */
    private static void configure(String url) throws IOException {
        System.setProperty(Objects.URL, url);
        System.setProperty("jms_timeout", "10000");
        System.setProperty("user", "tck");
        System.setProperty("password", "tck");
        System.setProperty("platform.mode", "standalone");
        Path folder = Files.createTempDirectory("tck");
        Path file = folder.resolve(System.getProperty("user.name") + "-cts-props.txt");
        file.toFile().deleteOnExit();
        System.setProperty("java.io.tmpdir", folder.toString());
        var properties = new Properties();
        properties.setProperty("porting.ts.jmsObjects.class.1", Objects.class.getName());
        try (Writer writer = Files.newBufferedWriter(file)) {
            properties.store(writer, null);
        }
    }
}
