package io.caravan.server.cli.document;

import static io.caravan.server.cli.common.Figures.count;
import static io.caravan.server.cli.common.Figures.size;

import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Figures;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Describes the statistics of a server in words. Statistics that the user may not see, or that a follower does not
 * have, are omitted.
 */
public record ServerSummary(ServerInfo info) {
    private static final double PERCENT = 100;

    /**
     * Returns the lines that {@code stat} prints, with the most important statistics.
     *
     * @param before the statistics of some seconds earlier, to compute rates
     */
    public List<String> lines(ServerInfo before, double seconds) {
        List<String> lines = new ArrayList<>();
        add(lines, "state", "caravan_version", state());
        add(lines, "documents", "documents", number("documents"));
        add(
                lines,
                "values",
                "values",
                number("values") + ", " + values() + "; " + number("appends") + " appended since the start");
        add(lines, "writes", "appends", writes(before, seconds));
        add(
                lines,
                "reads",
                "reads",
                rate("reads", before, seconds) + " each second, " + number("reads") + " since the start");
        add(
                lines,
                "log",
                "log_bytes_since_checkpoint",
                bytes("log_bytes_since_checkpoint") + " since the last checkpoint, to replay after a crash");
        add(lines, "heap", "heap_total_bytes", heap());
        add(lines, "disk", "disk_total_bytes", disk());
        add(lines, "JVM heap", "memory_max_bytes", memory());
        add(lines, "archive", "archive_state", archive());
        add(lines, "cluster", "cluster_enabled", cluster());
        return lines;
    }

    private void add(List<String> lines, String label, String figure, String text) {
        if (!info.text(figure).isEmpty()) {
            lines.add(String.format(Locale.ROOT, "%-12s %s", label, text));
        }
    }

    private String state() {
        String store = info.text("store_state");
        String durability = info.text("durability");
        return (store.isEmpty() ? "" : store + ", ")
                + (rejectsWrites() ? "IT REJECTS WRITES: " + info.text("store_problem") + ", " : "")
                + "up " + Figures.age(info.seconds("uptime_in_seconds"))
                + (durability.isEmpty() ? "" : ", durability " + durability)
                + ", version " + info.text("caravan_version");
    }

    /** Whether the store is known to reject writes. */
    public boolean rejectsWrites() {
        String state = info.text("store_state");
        return !state.isEmpty() && !state.equals("ok");
    }

    private String writes(ServerInfo before, double seconds) {
        return rate("appends", before, seconds) + " appends, " + rate("trims", before, seconds) + " trims, "
                + rate("deletes", before, seconds) + " deletes each second";
    }

    private String rate(String counter, ServerInfo before, double seconds) {
        return String.format(Locale.ROOT, "%,.1f", info.growth(counter, before) / seconds);
    }

    private String number(String name) {
        return String.format(Locale.ROOT, "%,d", info.numberOrZero(name));
    }

    /** Returns the size of the values. It may exceed the size of the heap, because new values exist only in the log. */
    public String values() {
        return bytes("heap_used_bytes") + " in the log and the heap";
    }

    public String heap() {
        return part("heap_free_bytes", "heap_total_bytes") + " free, largest hole " + bytes("heap_largest_hole_bytes");
    }

    public String disk() {
        return part("disk_free_bytes", "disk_total_bytes") + " free";
    }

    public String memory() {
        return part("memory_used_bytes", "memory_max_bytes") + " used";
    }

    public String archive() {
        String state = info.text("archive_state");
        return state.equals("none")
                ? state
                : state + ", " + count(info.numberOrZero("archive_backlog"), "document") + " waiting, the oldest for "
                        + Figures.age(info.seconds("archive_lag_seconds"));
    }

    public String cluster() {
        String role = info.text("cluster_role");
        if (role.isEmpty()) {
            return "none";
        }
        String leader = info.text("cluster_leader");
        return role + " of slots " + info.text("cluster_slots")
                + (role.equals("leader")
                        ? ""
                        : ", behind by " + number("cluster_unapplied_entries") + " of the log, "
                                + (leader.isEmpty() ? "no leader" : "the leader is " + leader));
    }

    private String bytes(String name) {
        return size(info.numberOrZero(name));
    }

    private String part(String name, String whole) {
        double all = Math.max(1, info.numberOrZero(whole));
        return String.format(
                Locale.ROOT, "%s of %s (%.0f%%)", bytes(name), bytes(whole), PERCENT * info.numberOrZero(name) / all);
    }
}
