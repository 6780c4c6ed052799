package io.caravan.server.cli.operate;

import static io.caravan.server.cli.common.Figures.count;
import static io.caravan.server.cli.common.Figures.size;

import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.operate.Rates.Busy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The lines that {@code top} shows, in 80 columns. */
final class Screen {
    private static final String RATE = "%-12s %14s %14s";
    private static final String FACT = "%-12s %s";
    private static final String CLIENT = "%-28s %10.1f %12d  %-12s %s";
    private static final String CLIENT_HEAD = "%-28s %10s %12s  %-12s %s";
    private static final double PERCENT = 100;

    private final Rates rates;
    private final ServerInfo info;
    private final List<String> lines = new ArrayList<>();

    private Screen(Rates rates) {
        this.rates = rates;
        this.info = rates.after().info();
    }

    /**
     * Returns the lines for the changes between two samples.
     *
     * @param clients the number of busiest clients to show
     */
    static List<String> lines(Rates rates, int clients) {
        Screen screen = new Screen(rates);
        screen.head();
        screen.rates();
        screen.store();
        screen.clients(clients);
        return screen.lines;
    }

    private void head() {
        add(
                "caravan %s, up %s, %s, %s, durability %s",
                info.text("caravan_version"),
                Figures.age(info.seconds("uptime_in_seconds")),
                count(info.numberOrZero("documents"), "document"),
                count(info.numberOrZero("connected_clients"), "connection"),
                info.text("durability"));
        String state = info.text("store_state");
        if (!state.equals("ok")) {
            add(
                    "%s, IT TAKES NO WRITES: %s",
                    "THE STORE IS " + state.toUpperCase(Locale.ROOT), info.text("store_trouble"));
        }
    }

    private void rates() {
        add("");
        add(RATE, "", "each second", "since start");
        counted("appends", "appends");
        sized("  bytes", "appended_bytes");
        counted("reads", "reads");
        counted("trims", "trims");
        counted("deletes", "deletes");
        counted("forces", "log_forces");
        sized("log", "log_bytes");
        counted("refusals", "refusals");
        counted("failures", "failures");
    }

    private void counted(String label, String counter) {
        add(
                RATE,
                label,
                String.format(Locale.ROOT, "%,.1f", rates.perSecond(counter)),
                String.format(Locale.ROOT, "%,d", info.numberOrZero(counter)));
    }

    private void sized(String label, String counter) {
        add(RATE, label, size((long) rates.perSecond(counter)), size(info.numberOrZero(counter)));
    }

    private void store() {
        add("");
        add(
                FACT,
                "acknowledged",
                "in " + millis("ack_p50_us") + " (median), " + millis("ack_p99_us") + " (99 of 100), since the start");
        add(
                FACT,
                "forced",
                "in " + millis("force_p50_us") + " (median), " + millis("force_p99_us") + " (99 of 100), "
                        + info.text("records_per_flush_mean") + " records each");
        add(
                FACT,
                "checkpoints",
                info.text("checkpoints") + ", the last took " + info.text("checkpoint_last_ms") + " ms; "
                        + bytes("log_bytes_since_checkpoint") + " of log to replay");
        add(
                FACT,
                "heap",
                bytes("heap_total_bytes") + ": " + bytes("heap_used_bytes") + " live, " + bytes("heap_free_bytes")
                        + " free, largest hole " + bytes("heap_largest_hole_bytes"));
        add(FACT, "disk", part("disk_free_bytes", "disk_total_bytes") + " free");
        add(FACT, "Java memory", part("memory_used_bytes", "memory_max_bytes") + " used");
        add(FACT, "archive", archive());
    }

    private String archive() {
        String state = info.text("archive_state");
        return state.equals("none")
                ? state
                : state + ", " + count(info.numberOrZero("archive_backlog"), "document") + " waiting, the oldest for "
                        + Figures.age(info.seconds("archive_oldest_unarchived_seconds"));
    }

    private String millis(String micros) {
        return String.format(Locale.ROOT, "%.1f ms", info.numberOrZero(micros) / 1e3);
    }

    private String bytes(String name) {
        return size(info.numberOrZero(name));
    }

    private String part(String name, String whole) {
        double all = Math.max(1, info.numberOrZero(whole));
        return String.format(
                Locale.ROOT, "%s of %s (%.0f%%)", bytes(name), bytes(whole), PERCENT * info.numberOrZero(name) / all);
    }

    private void clients(int most) {
        List<Busy> busiest = rates.busiest(most);
        if (busiest.isEmpty()) {
            return;
        }
        add("");
        add(CLIENT_HEAD, "busiest clients over RESP", "commands/s", "all", "user", "name");
        for (Busy busy : busiest) {
            add(
                    CLIENT,
                    busy.client().address(),
                    busy.commandsPerSecond(),
                    busy.client().commands(),
                    busy.client().user(),
                    busy.client().name());
        }
    }

    private void add(String format, Object... parts) {
        lines.add(String.format(Locale.ROOT, format, parts).stripTrailing());
    }
}
