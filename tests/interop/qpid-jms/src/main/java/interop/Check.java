package interop;

import java.util.Set;

/**
 * One thing that a client is entitled to.
 *
 * @param name its name, which also names its destinations
 * @param needs what a server must have for it, beyond AMQP 1.0: see {@link Main}
 * @param body tries it, and throws what went wrong
 */
record Check(String name, Set<String> needs, Body body) {

    /** What a check does. */
    interface Body {
        void run(Bench bench) throws Exception;
    }

    /** Several of them, each under a name of its own. */
    interface Group {
        void addTo(Registry registry);
    }

    /** Where groups enter their checks. */
    interface Registry {
        void add(String name, Body body, String... needs);
    }
}
