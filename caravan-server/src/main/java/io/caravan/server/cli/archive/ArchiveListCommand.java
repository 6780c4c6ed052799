package io.caravan.server.cli.archive;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Pipeline;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.format.Manifest.Tombstone;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "ls",
        description = {
            "Prints the documents of an archive, including deleted ones. A line has the number of generations, the total"
                    + " size, and the first sequence, the next sequence, and the age of the latest generation.",
            "With NAME, prints the generations of one document. 'caravan restore --at' accepts their numbers."
        },
        exitCodeList = {
            "0:done",
            "1:failed: no archive, no permission, or a manifest that cannot be read",
            "2:usage error",
            "3:the archive does not contain the document"
        },
        footer = {
            "  caravan archive ls --archive file:archive",
            "  caravan archive ls letters/1 --archive s3://bucket/prefix --json"
        })
final class ArchiveListCommand extends ArchiveCommand.Subcommand implements ReadOnly {
    @Parameters(paramLabel = "NAME", converter = NameConverter.class, arity = "0..1", description = "The document.")
    private @Nullable String name;

    @Override
    void run(Archive archive, Output output) throws IOException {
        ManifestPrinter printer = new ManifestPrinter(output, json());
        if (name == null) {
            listAll(archive, printer);
        } else {
            listOne(archive, DocumentName.of(name), printer);
        }
    }

    private void listOne(Archive archive, DocumentName document, ManifestPrinter printer) throws IOException {
        KeptManifest kept = archive.manifest(document);
        if (kept == null) {
            throw ClientException.otherState("document '" + document + "' is not in the archive at "
                    + archive.objects().location());
        }
        for (Generation generation : kept.manifest().generations()) {
            printer.print(generation);
        }
        printer.printDeletion(kept.manifest());
    }

    private void listAll(Archive archive, ManifestPrinter printer) throws IOException {
        // The results print the manifests, in the order of the keys.
        try (Pipeline<Runnable> pipeline = new Pipeline<>(jobs(), true, Runnable::run)) {
            archive.manifests(key -> {
                pipeline.submit(() -> {
                    try {
                        KeptManifest kept = archive.manifestAt(key);
                        return kept == null ? () -> {} : () -> Output.unchecked(() -> printer.print(kept.manifest()));
                    } catch (ArchiveException problem) {
                        return () -> {
                            exitWith(CommandLine.ExitCode.SOFTWARE);
                            printMessage(String.valueOf(problem.getMessage()));
                        };
                    }
                });
                return true;
            });
            pipeline.finish();
        }
        printer.printSum(archive.objects().location());
    }

    /** Prints manifests as text or JSON. In text, names come last: they may be long and contain any bytes. */
    private static final class ManifestPrinter {
        private static final String DOCUMENT = "%11s  %21s  %10s  %6s  ";
        private static final String GENERATION = "%10s  %21s  %10s  %6s  %s";

        private final Output output;
        private final boolean json;
        private final long nowMillis = System.currentTimeMillis();
        private boolean headed;
        private long documents;
        private long deleted;
        private long generations;
        private long bytes;

        ManifestPrinter(Output output, boolean json) {
            this.output = output;
            this.json = json;
        }

        void print(Manifest manifest) throws IOException {
            long all = manifest.generations().stream()
                    .mapToLong(Generation::objectBytes)
                    .sum();
            documents++;
            deleted += manifest.tombstone() == null ? 0 : 1;
            generations += manifest.generations().size();
            bytes += all;
            if (json) {
                output.object(fields(manifest, all));
            } else {
                head(DOCUMENT + "%s", "GENERATIONS", "SEQUENCES", "SIZE", "AGE", "NAME");
                Generation latest = manifest.latest();
                output.bytes(String.format(
                                Locale.ROOT,
                                DOCUMENT,
                                manifest.generations().size(),
                                latest == null ? "-" : sequences(latest),
                                Figures.size(all),
                                latest == null ? "-" : Figures.age(latest.takenAtMillis(), nowMillis))
                        .getBytes(US_ASCII));
                output.bytes(manifest.name().toBytes());
                output.line(deletion(manifest));
            }
        }

        private String deletion(Manifest manifest) {
            Tombstone tombstone = manifest.tombstone();
            return tombstone == null
                    ? ""
                    : "  (deleted, " + Figures.age(tombstone.deletedAtMillis(), nowMillis) + " ago)";
        }

        private void head(String format, Object... titles) throws IOException {
            if (!headed) {
                headed = true;
                output.line(String.format(Locale.ROOT, format, titles));
            }
        }

        private static String sequences(Generation generation) {
            return generation.firstSequence() + "-" + generation.nextSequence();
        }

        private static Map<String, ?> fields(Manifest manifest, long bytes) {
            Generation latest = manifest.latest();
            Tombstone tombstone = manifest.tombstone();
            return Output.fields(
                    Output.textOrBase64("name", "base64", manifest.name().toBytes()),
                    Output.fields("generations", manifest.generations().size(), "bytes", bytes),
                    latest == null ? Map.of() : Map.of("latest", fields(latest)),
                    tombstone == null ? Map.of() : Map.of("deleted", fields(tombstone)));
        }

        private static Map<String, ?> fields(Generation generation) {
            return Output.fields(
                    "generation", generation.number(),
                    "firstSequence", generation.firstSequence(),
                    "nextSequence", generation.nextSequence(),
                    "valueBytes", generation.valueBytes(),
                    "objectBytes", generation.objectBytes(),
                    "takenAt", time(generation.takenAtMillis()),
                    "incarnation", HexFormat.of().toHexDigits(generation.incarnation()),
                    "epoch", generation.epoch(),
                    "key", generation.key(),
                    "sha256", generation.sha256());
        }

        private static Map<String, ?> fields(Tombstone tombstone) {
            return Output.fields(
                    "deletedAt", time(tombstone.deletedAtMillis()),
                    "nextSequence", tombstone.nextSequence(),
                    "incarnation", HexFormat.of().toHexDigits(tombstone.incarnation()));
        }

        private static String time(long millis) {
            return Instant.ofEpochMilli(millis).toString();
        }

        void print(Generation generation) throws IOException {
            if (json) {
                output.object(fields(generation));
                return;
            }
            head(GENERATION, "GENERATION", "SEQUENCES", "SIZE", "AGE", "TAKEN AT");
            output.line(String.format(
                    Locale.ROOT,
                    GENERATION,
                    generation.number(),
                    sequences(generation),
                    Figures.size(generation.objectBytes()),
                    Figures.age(generation.takenAtMillis(), nowMillis),
                    time(generation.takenAtMillis())));
        }

        /** Prints the time and the sequence at which a document was deleted, if it was deleted. */
        void printDeletion(Manifest manifest) throws IOException {
            Tombstone tombstone = manifest.tombstone();
            if (tombstone == null) {
                return;
            }
            String line =
                    "deleted at " + time(tombstone.deletedAtMillis()) + ", at sequence " + tombstone.nextSequence();
            output.print(line, fields(tombstone));
        }

        void printSum(String location) throws IOException {
            if (!json) {
                output.line(location + " has " + Figures.count(documents - deleted, "document") + " and "
                        + Figures.count(deleted, "deleted one") + ", " + Figures.count(generations, "generation") + ", "
                        + Figures.size(bytes));
            }
        }
    }
}
