package io.caravan.server.cli.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.restore.RestoreProgress;
import io.caravan.server.archive.restore.Restored;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Reports each document of a restored archive at once, and the faults again at the end. */
final class RestoreReport extends RestoreProgress {
    /** The maximum number of faults that are repeated at the end. The list of documents contains all faults. */
    private static final int MAX_FAULTS = 1_000;

    private static final double MEGABYTE = 1e6;
    private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Output output;
    private final List<String> faults = new ArrayList<>();

    RestoreReport(Output output) {
        this.output = output;
    }

    @Override
    protected void restored(Restored restored) {
        super.restored(restored);
        print(
                (restored.changed() ? "restored " : "present ") + describe(restored),
                Output.fields(name(restored.name()), fields(restored)));
    }

    private static String describe(Restored restored) {
        return "'" + restored.name() + "' generation " + restored.generation().number() + ": first "
                + restored.firstSequence() + ", next " + restored.nextSequence() + ", added " + restored.added();
    }

    private static Map<String, ?> fields(Restored restored) {
        return Output.fields(
                "generation", restored.generation().number(),
                "first", restored.firstSequence(),
                "next", restored.nextSequence(),
                "added", restored.added());
    }

    private static Map<String, ?> name(DocumentName name) {
        return Output.textOrBase64("name", "base64", name.toBytes());
    }

    @Override
    protected void fault(RestoreFault fault) {
        super.fault(fault);
        DocumentName document = fault.document();
        Restored older = fault.instead();
        String line = "FAULT: " + (document == null ? "" : "document '" + document + "', ") + "object " + fault.object()
                + ": " + fault.why()
                + (older == null ? "" : "; restored an older generation instead: " + describe(older));
        Map<String, ?> fields = Output.fields(
                document == null ? Map.of() : name(document),
                Output.fields("object", fault.object(), "fault", fault.why()),
                older == null ? Map.of() : fields(older));
        if (faults.size() < MAX_FAULTS) {
            faults.add(line);
        }
        print(line, fields);
    }

    private void print(String line, Map<String, ?> fields) {
        Output.unchecked(() -> output.print(DocumentName.printable(line), fields));
    }

    /** Formats the progress after an elapsed time, the rate so far, and the remaining time at this rate. */
    static String progress(Figures figures, long nanos) {
        double seconds = nanos / NANOS_PER_SECOND;
        boolean known = figures.total() >= 0;
        String of = known ? String.format(Locale.ROOT, " of %,d", figures.total()) : "";
        String line = String.format(
                Locale.ROOT,
                "%,d%s documents, %,.1f MB/s, %d faults",
                figures.done(),
                of,
                figures.movedBytes() / MEGABYTE / seconds,
                figures.faults());
        if (!known || figures.done() == 0) {
            return line;
        }
        long left = Math.round((figures.total() - figures.done()) * seconds / figures.done());
        Duration rest = Duration.ofSeconds(Math.max(0, left));
        return line
                + String.format(
                        Locale.ROOT, ", %d:%02d:%02d left", rest.toHours(), rest.toMinutesPart(), rest.toSecondsPart());
    }

    /**
     * Prints the faults and the totals, and throws {@link ClientException} if there were faults. With {@code
     * allowMissing}, the store is marked as complete although it lacks documents.
     */
    void finish(boolean allowMissing, Consumer<String> messages) throws IOException {
        Figures figures = figures();
        output.flush();
        faults.forEach(messages);
        if (figures.faults() > faults.size()) {
            messages.accept(figures.faults() - faults.size() + " more faults, which are in the list of the documents");
        }
        output.print(
                String.format(
                        Locale.ROOT,
                        "%d documents restored, %d were there already, %d were deleted, %d faults; %d values, %d bytes",
                        figures.restored(),
                        figures.present(),
                        figures.deleted(),
                        figures.faults(),
                        figures.values(),
                        figures.valueBytes()),
                Output.fields(
                        "restored", figures.restored(),
                        "present", figures.present(),
                        "deleted", figures.deleted(),
                        "faults", figures.faults(),
                        "values", figures.values(),
                        "bytes", figures.valueBytes()));
        output.flush();
        if (figures.faults() > 0) {
            throw ClientException.failed(figures.faults()
                    + " documents were not restored from their latest generations; the others are restored"
                    + (missing() > 0 ? "; " + missing(missing(), allowMissing) : ""));
        }
    }

    private static String missing(long missing, boolean allowed) {
        String lacks = "the store lacks " + missing + " of them, and ";
        return lacks
                + (allowed
                        ? "is marked as complete without them because of --allow-missing"
                        : "is marked as incomplete: put the objects back and run the command again to continue, use"
                                + " --allow-older to accept older generations, or --allow-missing to serve the store"
                                + " without them");
    }
}
