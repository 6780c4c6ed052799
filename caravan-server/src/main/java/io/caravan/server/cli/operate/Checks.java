package io.caravan.server.cli.operate;

import static io.caravan.server.cli.common.Figures.count;
import static io.caravan.server.cli.common.Figures.size;

import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.operate.CheckCommand.Limits;
import io.caravan.server.cli.operate.CheckResult.Figure;
import io.caravan.server.cli.operate.CheckResult.Problem;
import io.caravan.server.cli.operate.CheckResult.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Compares the statistics of a server with the configured limits. */
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

    Checks(Limits limits) {
        this.limits = limits;
    }

    /**
     * Returns the result of the check; call this only once.
     *
     * @param replyNanos the time to connect and to receive the statistics
     */
    CheckResult judge(ServerInfo info, long replyNanos) {
        double seconds = replyNanos / 1e9;
        figure("reply", limits.reply, seconds, "s", "it took " + time(seconds) + " to receive a reply");
        if (info.text("store_state").isEmpty()) {
            problems.add(new Problem(
                    Status.UNKNOWN,
                    "the server replies, but reports its state only to users with the admin permission"));
            return CheckResult.of(problems, figures, "");
        }
        store(info);
        archive(info);
        return CheckResult.of(problems, figures, summary(info));
    }

    private void store(ServerInfo info) {
        String state = info.text("store_state");
        if (!state.equals("ok")) {
            String what = state.equals("full") ? "the store has no space" : "the store has failed";
            problems.add(new Problem(Status.CRITICAL, what + " and rejects writes: " + info.text("store_problem")));
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
            problems.add(new Problem(Status.UNKNOWN, "the server cannot tell the free space of its disk"));
            return;
        }
        double percent = PERCENT * free.getAsLong() / total;
        String text = String.format(Locale.ROOT, "the disk has %s free, %.1f%%", size(free.getAsLong()), percent);
        figure("space", limits.space, percent, "%", text);
    }

    /**
     * Checks the archive. A server that is fenced, or is still claiming the archive, does not write to the archive,
     * even if no change is overdue yet.
     */
    private void archive(ServerInfo info) {
        String state = info.text("archive_state");
        if (state.equals("none") || !limits.overdue.used()) {
            return;
        }
        if (!state.equals("owner")) {
            Status bad = ENDED.contains(state) ? Status.CRITICAL : Status.WARNING;
            String error = info.text("archive_last_error");
            problems.add(new Problem(
                    bad, "nothing is archived, the archive is " + state + (error.isEmpty() ? "" : ": " + error)));
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
}
