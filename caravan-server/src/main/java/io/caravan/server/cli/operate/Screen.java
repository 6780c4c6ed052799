package io.caravan.server.cli.operate;

import static io.caravan.server.cli.common.Figures.count;
import static io.caravan.server.cli.common.Figures.size;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.document.ServerSummary;
import io.caravan.server.cli.operate.Rates.Busy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStyle;

/** The lines that {@code top} shows, starting with the most important ones. */
final class Screen {
    static final AttributedStyle ALARM = AttributedStyle.BOLD.foreground(AttributedStyle.RED);
    private static final AttributedStyle HEADING = AttributedStyle.DEFAULT.foreground(AttributedStyle.CYAN);

    private static final String RATE = "%-12s %14s %14s";
    private static final String FACT = "%-12s %s";
    private static final String CLIENT = "%-28s %10.1f %12d  %-12s %s";
    private static final String CLIENT_HEAD = "%-28s %10s %12s  %-12s %s";

    private final Rates rates;
    private final ServerInfo info;
    private final ServerSummary summary;
    private final List<AttributedString> lines = new ArrayList<>();

    private Screen(Rates rates) {
        this.rates = rates;
        this.info = rates.after().info();
        this.summary = new ServerSummary(info);
    }

    /** Returns the lines for the changes between two samples. */
    static List<AttributedString> lines(Rates rates) {
        Screen screen = new Screen(rates);
        screen.head();
        screen.rates();
        screen.store();
        screen.clients();
        return screen.lines;
    }

    private void head() {
        add(
                AttributedStyle.BOLD,
                "caravan %s, up %s, %s, %s, durability %s",
                info.text("caravan_version"),
                Figures.age(info.seconds("uptime_in_seconds")),
                count(info.numberOrZero("documents"), "document"),
                count(info.numberOrZero("connected_clients"), "connection"),
                info.text("durability"));
        if (summary.rejectsWrites()) {
            add(
                    ALARM,
                    "%s, IT REJECTS WRITES: %s",
                    "THE STORE IS " + info.text("store_state").toUpperCase(Locale.ROOT),
                    info.text("store_problem"));
        }
    }

    private void rates() {
        add("");
        add(HEADING, RATE, "", "each second", "since start");
        counted("appends", "appends");
        sized("  bytes", "appended_bytes");
        counted("reads", "reads");
        counted("trims", "trims");
        counted("deletes", "deletes");
        counted("fsyncs", "log_fsyncs");
        sized("log", "log_bytes");
        counted("rejections", "rejections");
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
                "fsynced",
                "in " + millis("fsync_p50_us") + " (median), " + millis("fsync_p99_us") + " (99 of 100), "
                        + info.text("records_per_flush_mean") + " records each");
        add(
                FACT,
                "checkpoints",
                info.text("checkpoints") + ", the last took " + info.text("checkpoint_last_ms") + " ms; "
                        + size(info.numberOrZero("log_bytes_since_checkpoint")) + " of log to replay");
        add(FACT, "values", summary.values());
        add(FACT, "heap", summary.heap());
        add(FACT, "disk", summary.disk());
        add(FACT, "JVM heap", summary.memory());
        add(FACT, "archive", summary.archive());
    }

    private String millis(String micros) {
        return String.format(Locale.ROOT, "%.1f ms", info.numberOrZero(micros) / 1e3);
    }

    private void clients() {
        List<Busy> shown = rates.busiest();
        if (shown.isEmpty()) {
            return;
        }
        add("");
        add(HEADING, CLIENT_HEAD, "busiest clients over RESP", "commands/s", "all", "user", "name");
        for (Busy busy : shown) {
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
        add(AttributedStyle.DEFAULT, format, parts);
    }

    /** Adds a line, and removes control characters, which a client's name may contain. */
    private void add(AttributedStyle style, String format, Object... parts) {
        String line = String.format(Locale.ROOT, format, parts).stripTrailing();
        lines.add(new AttributedString(DocumentName.printable(line), style));
    }
}
