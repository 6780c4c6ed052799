package io.caravan.server.cli.archive;

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

    /** The columns of a document, or of a generation. */
    private static final String ROW = "%11s  %21s  %10s  %6s  %s";

    private final long nowMillis = System.currentTimeMillis();
    private long documents;
    private long deleted;
    private long generations;
    private long bytes;

    @Override
    void run(Archive archive, Output output) throws IOException {
        if (name == null) {
            listAll(archive, output);
        } else {
            listOne(archive, DocumentName.of(name), output);
        }
    }

    private void listOne(Archive archive, DocumentName document, Output output) throws IOException {
        KeptManifest kept = archive.manifest(document);
        if (kept == null) {
            throw ClientException.otherState("document '" + document + "' is not in the archive at "
                    + archive.objects().location());
        }
        if (!json() && kept.manifest().latest() != null) {
            output.line(row("GENERATION", "SEQUENCES", "SIZE", "AGE", "TAKEN AT"));
        }
        for (Generation each : kept.manifest().generations()) {
            output.print(
                    row(
                            each.number(),
                            sequences(each),
                            Figures.size(each.objectBytes()),
                            age(each),
                            time(each.takenAtMillis())),
                    fields(each));
        }
        Tombstone tombstone = kept.manifest().tombstone();
        if (tombstone != null) {
            output.print(
                    "deleted at " + time(tombstone.deletedAtMillis()) + ", at sequence " + tombstone.nextSequence(),
                    fields(tombstone));
        }
    }

    private void listAll(Archive archive, Output output) throws IOException {
        // The results print the manifests, in the order of the keys.
        try (Pipeline<Runnable> pipeline = new Pipeline<>(jobs(), true, Runnable::run)) {
            archive.manifests()
                    .forEach(key -> pipeline.submit(() -> {
                        try {
                            KeptManifest kept = archive.manifestAt(key);
                            return kept == null
                                    ? () -> {}
                                    : () -> Output.unchecked(() -> print(kept.manifest(), output));
                        } catch (ArchiveException problem) {
                            return () -> {
                                exitWith(CommandLine.ExitCode.SOFTWARE);
                                printMessage(String.valueOf(problem.getMessage()));
                            };
                        }
                    }));
            pipeline.finish();
        }
        if (!json()) {
            output.line(archive.objects().location() + " has " + Figures.count(documents - deleted, "document")
                    + " and "
                    + Figures.count(deleted, "deleted one") + ", " + Figures.count(generations, "generation") + ", "
                    + Figures.size(bytes));
        }
    }

    private void print(Manifest manifest, Output output) throws IOException {
        long all = manifest.generations().stream()
                .mapToLong(Generation::objectBytes)
                .sum();
        int count = manifest.generations().size();
        Generation latest = manifest.latest();
        Tombstone tombstone = manifest.tombstone();
        if (!json() && documents == 0) {
            output.line(row("GENERATIONS", "SEQUENCES", "SIZE", "AGE", "NAME"));
        }
        documents++;
        deleted += tombstone == null ? 0 : 1;
        generations += count;
        bytes += all;
        // The name comes last, because it may be long.
        String named = manifest.name()
                + (tombstone == null
                        ? ""
                        : "  (deleted, " + Figures.age(tombstone.deletedAtMillis(), nowMillis) + " ago)");
        output.print(
                row(
                        count,
                        latest == null ? "-" : sequences(latest),
                        Figures.size(all),
                        latest == null ? "-" : age(latest),
                        named),
                Output.fields(
                        Output.textOrBase64("name", "base64", manifest.name().toBytes()),
                        Output.fields("generations", count, "bytes", all),
                        latest == null ? Map.of() : Map.of("latest", fields(latest)),
                        tombstone == null ? Map.of() : Map.of("deleted", fields(tombstone))));
    }

    private static String row(Object... columns) {
        return String.format(Locale.ROOT, ROW, columns);
    }

    private static String sequences(Generation generation) {
        return generation.firstSequence() + "-" + generation.nextSequence();
    }

    private String age(Generation generation) {
        return Figures.age(generation.takenAtMillis(), nowMillis);
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
}
