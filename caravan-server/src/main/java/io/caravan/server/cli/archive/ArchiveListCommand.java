package io.caravan.server.cli.archive;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Pipeline;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Prints what is in an archive. */
@Command(
        name = "ls",
        description = {
            "Prints the documents of an archive, those that were deleted too: how many generations are kept, the"
                    + " sequences of the latest, from the first value's to the one that the next value would get, the"
                    + " size of all, and the age of the latest.",
            "Of one document, each generation: its number is what 'caravan restore --at' wants."
        },
        exitCodeList = {
            "0:done",
            "1:failed: no archive, no permission, or a manifest that cannot be read",
            "2:wrongly called",
            "3:there is nothing of this document"
        },
        footer = {
            "  caravan archive ls --archive file:archive",
            "  caravan archive ls letters/1 --archive s3://bucket/prefix --output json"
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ArchiveListCommand extends ArchiveSubcommand {
    private static final int NOTHING = 3;

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document.")
    private @Nullable String name;

    /** A manifest, or why it cannot be read; neither when it has gone meanwhile. */
    private record Found(
            @Nullable Manifest manifest, @Nullable ArchiveException problem) {}

    ArchiveListCommand(Console console) {
        super(console);
    }

    @Override
    int run(Archive archive, Output output) throws IOException {
        ManifestPrinter printer = new ManifestPrinter(output, json(), System.currentTimeMillis());
        return name == null ? listAll(archive, printer) : listOne(archive, DocumentName.of(name), printer);
    }

    private int listOne(Archive archive, DocumentName document, ManifestPrinter printer) throws IOException {
        KeptManifest kept = archive.manifest(document);
        if (kept == null) {
            tell("there is nothing of document '" + document + "' in the archive at "
                    + archive.objects().location());
            return NOTHING;
        }
        for (Generation generation : kept.manifest().generations()) {
            printer.print(generation);
        }
        printer.printDeletion(kept.manifest());
        return CommandLine.ExitCode.OK;
    }

    private int listAll(Archive archive, ManifestPrinter printer) throws IOException {
        long[] problems = new long[1];
        try (Pipeline<Found> pipeline = new Pipeline<>(jobs(), found -> problems[0] += print(found, printer))) {
            archive.manifests("", key -> {
                pipeline.submit(() -> find(archive, key));
                return true;
            });
            pipeline.finish();
        } catch (UncheckedIOException unwritable) {
            throw unwritable.getCause();
        }
        printer.printSum(archive.objects().location());
        return problems[0] == 0 ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private static Found find(Archive archive, String key) {
        try {
            KeptManifest kept = archive.manifestAt(key);
            return new Found(kept == null ? null : kept.manifest(), null);
        } catch (ArchiveException problem) {
            return new Found(null, problem);
        }
    }

    /** Returns the number of problems. */
    private int print(Found found, ManifestPrinter printer) {
        ArchiveException problem = found.problem();
        if (problem != null) {
            tell(String.valueOf(problem.getMessage()));
            return 1;
        }
        Manifest manifest = found.manifest();
        try {
            if (manifest != null) {
                printer.print(manifest);
            }
            return 0;
        } catch (IOException unwritable) {
            throw new UncheckedIOException(unwritable);
        }
    }
}
