package io.caravan.server.cli.operate;

import static io.caravan.server.cli.common.Figures.count;
import static io.caravan.server.cli.common.Figures.size;

import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.operate.CheckCommand.Limits;
import io.caravan.server.config.Quantities;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Compares the statistics of a server with the configured limits, and describes the result. */
final class Checks {
    private static final double PERCENT = 100;
    /** The archive states after which the server writes to the archive again only if it is restarted. */
    private static final Set<String> ENDED = Stream.of(ArchiveState.values())
            .filter(ArchiveState::ended)
            .map(ArchiveState::label)
            .collect(Collectors.toUnmodifiableSet());

    private final Limits limits;
    private final List<Problem> problems = new ArrayList<>();
    private final List<Figure> figures = new ArrayList<>();
    /** The text if there are no problems. */
    private String summary = "";

    Checks(Limits limits) {
        this.limits = limits;
    }

    /** Checks the statistics, and the time to connect and to receive them; call this only once. */
    void judge(ServerInfo info, long replyNanos) {
        double seconds = replyNanos / 1e9;
        figure("reply", limits.reply, seconds, "s", "it took " + time(seconds) + " to receive a reply");
        if (info.text("store_state").isEmpty()) {
            problem(
                    Status.UNKNOWN,
                    "the server replies, but reports its state only to users with the admin permission");
            return;
        }
        store(info);
        archive(info);
        summary = summary(info);
    }

    /** Records a bad state that has no metric. */
    void problem(Status status, String text) {
        problems.add(new Problem(status, text));
    }

    private void store(ServerInfo info) {
        String state = info.text("store_state");
        if (!state.equals("ok")) {
            String what = state.equals("full") ? "the store has no space" : "the store has failed";
            problem(Status.CRITICAL, what + " and rejects writes: " + info.text("store_problem"));
        }
        space(info);
        long replay = info.numberOrZero("log_bytes_since_checkpoint");
        figure("replay", limits.replay, replay, "B", size(replay) + " of log would be replayed");
        double ack = info.numberOrZero("ack_p99_us") / 1e6;
        figure("ack_p99", limits.ack, ack, "s", "1 write in 100 takes " + time(ack) + " or longer");
        figures.add(
                new Figure("connections", Status.OK, "", info.numberOrZero("connected_clients"), "", Thresholds.NEVER));
    }

    private void space(ServerInfo info) {
        OptionalLong free = info.number("disk_free_bytes");
        long total = info.numberOrZero("disk_total_bytes");
        if (free.orElse(-1) < 0 || total <= 0) {
            problem(Status.UNKNOWN, "the server cannot tell the free space of its disk");
            return;
        }
        double percent = PERCENT * free.getAsLong() / total;
        String text = String.format(Locale.ROOT, "the disk has %s free, %.1f%%", size(free.getAsLong()), percent);
        figure("space", limits.space, percent, "%", text);
    }

    /** Checks the archive. Only its owner writes to it, even if no change is overdue yet. */
    private void archive(ServerInfo info) {
        String state = info.text("archive_state");
        if (state.equals("none") || !limits.overdue.used()) {
            return;
        }
        if (!state.equals("owner")) {
            Status bad = ENDED.contains(state) ? Status.CRITICAL : Status.WARNING;
            String error = info.text("archive_last_error");
            problem(bad, "nothing is archived, the archive is " + state + (error.isEmpty() ? "" : ": " + error));
        }
        Duration overdue = info.seconds("archive_overdue_seconds");
        figure("overdue", limits.overdue, overdue.toSeconds(), "s", "the archive is " + Figures.age(overdue) + " late");
    }

    private void figure(String name, Thresholds of, double value, String unit, String text) {
        figures.add(new Figure(name, of.status(value), text, value, unit, of));
    }

    private static String time(double seconds) {
        return seconds < 1
                ? String.format(Locale.ROOT, "%.1f ms", seconds * 1e3)
                : String.format(Locale.ROOT, "%.1f s", seconds);
    }

    private static String summary(ServerInfo info) {
        long free = info.numberOrZero("disk_free_bytes");
        return "serves " + count(info.numberOrZero("documents"), "document") + " for "
                + Figures.age(info.seconds("uptime_in_seconds")) + ", " + size(free)
                + " free";
    }

    Status status() {
        return problems().map(Problem::status).findFirst().orElse(Status.OK);
    }

    /** Returns one line: the status, the problems or the summary, and the metrics after a bar. */
    String line() {
        String performance = figures.stream().map(Figure::performance).collect(Collectors.joining(" "));
        return "CARAVAN " + status() + " - " + text() + (performance.isEmpty() ? "" : " | " + performance);
    }

    /** Returns the problems or the summary without bars, because a bar ends the text for monitoring systems. */
    private String text() {
        String found = problems().map(Problem::text).collect(Collectors.joining("; "));
        return (found.isEmpty() ? summary : found).replace('|', '/');
    }

    /** Returns the bad states, and the metrics beyond their limits, the worst first. */
    private Stream<Problem> problems() {
        Stream<Problem> beyond = figures.stream()
                .filter(figure -> figure.status() != Status.OK)
                .map(figure -> new Problem(figure.status(), figure.text()));
        return Stream.concat(problems.stream(), beyond)
                .sorted(Comparator.comparing(Problem::status).reversed());
    }

    Map<String, ?> fields() {
        Map<String, Object> shown = new LinkedHashMap<>();
        figures.forEach(figure -> shown.put(figure.name(), figure.fields()));
        return Output.fields("status", status().label(), "text", text(), "figures", shown);
    }

    private record Problem(Status status, String text) {}

    /** The statuses that monitoring systems use, with the exit codes of Nagios plugins. Ordered by severity. */
    enum Status {
        OK(0),
        /** The status could not be determined. */
        UNKNOWN(3),
        /** An operator should check the server, but not necessarily today. */
        WARNING(1),
        /** An operator must check the server now. */
        CRITICAL(2);

        private final int exitCode;

        Status(int exitCode) {
            this.exitCode = exitCode;
        }

        int exitCode() {
            return exitCode;
        }

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A metric, compared with its limits. Its unit is as in Nagios plugins: {@code s}, {@code B}, {@code %}, or empty.
     */
    record Figure(String name, Status status, String text, double value, String unit, Thresholds limits) {
        private static final int DECIMALS = 6;

        Map<String, ?> fields() {
            Map<String, ?> bounds = limits.used()
                    ? Output.fields("warning", limits.warning(), "critical", limits.critical())
                    : Map.of();
            return Output.fields("status", status.label(), "value", value, "unit", unit, bounds);
        }

        /** Returns the performance data, which follows the bar in the output line of a Nagios plugin. */
        String performance() {
            return name + "=" + number(value) + unit + ";" + limits.range(limits.warning()) + ";"
                    + limits.range(limits.critical());
        }

        /** Formats a number without an exponent, because some parsers of performance data do not support exponents. */
        static String number(double value) {
            BigDecimal rounded = new BigDecimal(value).setScale(DECIMALS, RoundingMode.HALF_UP);
            return rounded.signum() == 0 ? "0" : rounded.stripTrailingZeros().toPlainString();
        }
    }

    /** The limits above which a value causes a warning, or is critical; or below which, such as for free space. */
    record Thresholds(double warning, double critical, boolean lowIsBad) {
        private static final String OFF = "off";
        static final Thresholds NEVER = new Thresholds(Double.POSITIVE_INFINITY, Double.POSITIVE_INFINITY, false);

        boolean used() {
            return !equals(NEVER);
        }

        Status status(double figure) {
            if (beyond(figure, critical)) {
                return Status.CRITICAL;
            }
            return beyond(figure, warning) ? Status.WARNING : Status.OK;
        }

        private boolean beyond(double figure, double limit) {
            return lowIsBad ? figure < limit : figure > limit;
        }

        /** Formats a limit as a Nagios range: {@code 10:} if values below 10 are bad, {@code 10} if those above are. */
        String range(double limit) {
            return used() ? Figure.number(limit) + (lowIsBad ? ":" : "") : "";
        }

        /** Parses {@code WARNING,CRITICAL}, or {@code off}. */
        private static class Pair implements ITypeConverter<Thresholds> {
            private final boolean lowIsBad;
            private final ToDoubleFunction<String> value;

            Pair(boolean lowIsBad, ToDoubleFunction<String> value) {
                this.lowIsBad = lowIsBad;
                this.value = value;
            }

            @Override
            public Thresholds convert(String text) {
                if (text.equals(OFF)) {
                    return NEVER;
                }
                String[] parts = text.split(",", -1);
                if (parts.length != 2) {
                    throw new TypeConversionException("'" + text + "' is neither WARNING,CRITICAL nor off");
                }
                Thresholds limits = new Thresholds(
                        value.applyAsDouble(parts[0].trim()), value.applyAsDouble(parts[1].trim()), lowIsBad);
                if (limits.beyond(limits.warning, limits.critical)) {
                    throw new TypeConversionException(
                            "'" + text + "' has its limits in the wrong order: the second limit" + " must not be "
                                    + (lowIsBad ? "above" : "below") + " the first");
                }
                return limits;
            }
        }

        /** Parses times. The values are in seconds. */
        static final class Times extends Pair {
            Times() {
                super(false, text -> new Quantities.Time().convert(text).toMillis() / 1e3);
            }
        }

        /** Parses sizes. The values are in bytes. */
        static final class Sizes extends Pair {
            Sizes() {
                super(false, new Quantities.Bytes()::convert);
            }
        }

        /** Parses percentages of free space. */
        static final class Percents extends Pair {
            Percents() {
                super(true, Percents::percent);
            }

            private static double percent(String text) {
                if (!text.matches("[0-9]{1,2}(\\.[0-9]{1,3})?%?|100%?")) {
                    throw new TypeConversionException("'" + text + "' is not a part of a whole, such as 10%");
                }
                return Double.parseDouble(text.replace("%", ""));
            }
        }
    }
}
