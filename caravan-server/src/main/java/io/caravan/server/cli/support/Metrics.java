package io.caravan.server.cli.support;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Filters Prometheus text: keeps only samples in the form of the server's own samples, and drops the rest, including
 * comments.
 */
final class Metrics {
    private static final Pattern SAMPLE = Pattern.compile(
            "((?:caravan|jvm|process|system)_[a-z0-9_]{1,80})(?:\\{([^{}]{0,400})})? ([-+0-9.eE]{1,30}|NaN|[+-]Inf)");
    private static final Pattern LABEL = Pattern.compile("([a-z]{1,20})=\"([^\"\\\\]{0,60})\"(?:,|$)");
    private static final Set<String> WORDS =
            Set.of("protocol", "operation", "outcome", "kind", "limit", "state", "area", "reason", "node");
    private static final Pattern WORD = Pattern.compile("[a-z][a-z_.-]{0,40}");
    private static final Pattern LIMIT = Pattern.compile("[0-9.eE+-]{1,20}|\\+Inf");
    /** Labels whose values are names from the JVM: garbage collectors, causes of collections, and pools. */
    private static final Set<String> JVM = Set.of("action", "cause", "gc", "id", "pool");

    private static final Pattern JVM_NAME = Pattern.compile("[A-Za-z0-9 .'()_-]{1,60}");

    private Metrics() {}

    /** Returns the lines that may be disclosed. */
    static String shown(String text) {
        StringBuilder shown = new StringBuilder();
        text.lines()
                .filter(Metrics::isAllowed)
                .forEach(line -> shown.append(line).append('\n'));
        return shown.toString();
    }

    private static boolean isAllowed(String line) {
        Matcher sample = SAMPLE.matcher(line);
        return sample.matches() && (sample.group(2) == null || areAllowed(sample.group(2), line.startsWith("jvm_")));
    }

    private static boolean areAllowed(String labels, boolean jvm) {
        Matcher label = LABEL.matcher(labels);
        int end = 0;
        while (label.find() && label.start() == end) {
            if (!isAllowed(label.group(1), label.group(2), jvm)) {
                return false;
            }
            end = label.end();
        }
        return end == labels.length();
    }

    private static boolean isAllowed(String name, String value, boolean jvm) {
        if (name.equals("le") || name.equals("quantile")) {
            return LIMIT.matcher(value).matches();
        }
        return WORDS.contains(name) && WORD.matcher(value).matches()
                || jvm && JVM.contains(name) && JVM_NAME.matcher(value).matches();
    }
}
