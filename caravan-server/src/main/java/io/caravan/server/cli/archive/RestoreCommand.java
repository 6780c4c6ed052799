package io.caravan.server.cli.archive;

import io.caravan.CaravanException;
import io.caravan.Shards;
import io.caravan.StoreConfig;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.restore.RestoreProgress;
import io.caravan.server.archive.restore.StoreRestore;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Restores one document on a running server, or all documents of an archive to a store that is not open. */
@Command(
        name = "restore",
        description = {
            "Restores documents from an archive, in one of two ways.",
            "",
            "With NAME, a running server restores one document from its archive, and tells what the document has then"
                    + " and how many values were added. To a document that is there it adds the values that it lacks at"
                    + " its end; what would take it back in time is refused, unless it is restored under another name"
                    + " (--as).",
            "",
            "With --archive and --data, and no server, a whole store is rebuilt from the archive alone. Each document"
                + " is told as it is restored, and at the end what could not be restored and why, which makes the exit"
                + " code 1. While documents are missing, the store stays marked as incomplete, and is served only with"
                + " --archive-hydrate. A restore that was ended goes on when it is called again. Then the store can be"
                + " served, and archived to the same archive: caravan serve --data DIR --archive URL.",
            ""
        },
        footer = {
            "  caravan restore letters/1",
            "  caravan restore letters/1 --at 12 --as letters/1-of-monday",
            "  caravan restore --archive s3://backups/caravan --data data --list restored.txt"
        })
public final class RestoreCommand extends ClientCommand {
    private static final int MAX_JOBS = 256;
    private static final String BOTH = "NAME, --at and --as are for a running server, --archive, --data, --list,"
            + " --allow-older and --allow-missing for a whole store: they do not go together";

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document, for a running server to restore.")
    private @Nullable String name;

    @Option(
            names = "--at",
            paramLabel = "GENERATION",
            description =
                    "Restore NAME from this generation; from the latest one otherwise. A document that was deleted is"
                            + " restored only so.")
    private @Nullable Long at;

    @Option(
            names = "--as",
            paramLabel = "OTHER",
            description = "Restore NAME as a new document of this name, which must not exist.")
    private @Nullable String as;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description =
                    "The store's directory: one that does not exist, is empty, or holds what an earlier restore of"
                            + " the same archive has left.")
    private @Nullable Path data;

    @Option(
            names = "--shards",
            paramLabel = "N",
            defaultValue = "1",
            description = "Shards of the new store, from 1 to 16, as 'caravan serve --shards' will be given.")
    private int groups;

    @Option(
            names = "--jobs",
            paramLabel = "N",
            defaultValue = "16",
            description = "Documents to read from the archive at a time, from 1 to 256.")
    private int jobs;

    @Option(
            names = "--allow-older",
            description = "Restore a document whose latest generation is damaged from the newest one before it that is"
                    + " not.")
    private boolean allowOlder;

    @Option(
            names = "--allow-missing",
            description =
                    "Mark the store as complete although documents could not be restored, so that it can be served"
                            + " without them. The exit code is still 1.")
    private boolean allowMissing;

    @Option(
            names = "--list",
            paramLabel = "FILE",
            description = "Tell of each document in this file instead of on the standard output.")
    private @Nullable Path list;

    @Mixin
    private ArchivePlace archive;

    @Override
    protected void run(Output output) throws IOException {
        if (name != null) {
            check(!isArchiveGiven() && data == null && list == null && !allowOlder && !allowMissing, BOTH);
            restoreOne(name, output);
        } else {
            check(at == null && as == null, BOTH);
            check(groups >= 1 && groups <= Shards.MAX_SHARDS, "--shards must be from 1 to " + Shards.MAX_SHARDS);
            check(jobs >= 1 && jobs <= MAX_JOBS, "--jobs must be from 1 to " + MAX_JOBS);
            String how = "give NAME for a running server to restore, or --archive and --data for a whole store";
            restoreAll(given(archive.url(), how), given(data, how), output);
        }
    }

    /** Whether the archive is set on the command line. A location in the environment may be for other commands. */
    private boolean isArchiveGiven() {
        return spec().commandLine().getParseResult().hasMatchedOption("--archive");
    }

    private void restoreOne(String wanted, Output output) throws IOException {
        List<String> request = new ArrayList<>(List.of("CARAVAN.RESTORE", wanted));
        if (at != null) {
            request.addAll(List.of("AT", String.valueOf(atLeast(1, at, "--at", 1))));
        }
        if (as != null) {
            request.addAll(List.of("AS", as));
        }
        try (ServerConnection connection = connect()) {
            Map<String, ?> restored = connection.callLongRunning(request);
            String line = "first " + restored.get("first") + ", next " + restored.get("next") + ", added "
                    + restored.get("added") + " from generation " + restored.get("generation");
            print(output, line, fields -> {
                for (String field : List.of("first", "next", "added", "generation")) {
                    fields.writeObjectField(field, restored.get(field));
                }
            });
        }
    }

    private void restoreAll(String url, Path directory, Output output) throws IOException {
        RestoreProgress progress = new RestoreProgress();
        try (ObjectStore objects = archive.open(url)) {
            restoreAll(Archive.open(objects), directory, output, progress);
            tell("to take over from the host that is lost: caravan serve --data " + directory
                    + (groups == 1 ? "" : " --shards " + groups) + " --archive " + url);
        } catch (Output.ClosedException closed) {
            throw ClientException.failed(
                    "the output was closed before the restore had told all: call it again", closed);
        } catch (UncheckedIOException unlisted) {
            throw ClientException.failed(
                    "the documents that are restored cannot be told: " + unlisted.getMessage()
                            + "; call it again to go on, with --list FILE",
                    unlisted);
        } catch (CaravanException problem) {
            String done = progress.figures().done() == 0
                    ? ""
                    : "; " + progress.figures().done() + " documents are done: call it again to go on from there";
            throw ClientException.failed(problem.getMessage() + done, problem);
        }
    }

    /**
     * Restores all documents. The caller opens the archive first, so that the list of an earlier restore is not
     * overwritten if the archive does not exist.
     */
    private void restoreAll(Archive opened, Path directory, Output output, RestoreProgress progress)
            throws IOException {
        try (Output listed = list == null ? null : new Output(Files.newOutputStream(list))) {
            RestoreReport report = new RestoreReport(listed == null ? output : listed, json());
            long startedNanos = System.nanoTime();
            try (Progress ticking = Progress.ticking(
                    err(),
                    console().showsProgress(),
                    () -> RestoreReport.progress(progress.figures(), System.nanoTime() - startedNanos))) {
                // The largest allowed maximum, because every archived value must fit.
                StoreConfig store = StoreConfig.builder(directory)
                        .maxValueBytes(StoreConfig.MAX_VALUE_BYTES)
                        .build();
                StoreRestore.run(opened, store, groups, jobs, allowOlder, allowMissing, report, progress);
            }
            report.finish(progress.figures(), progress.missing(), allowMissing, output, this::tell);
        }
    }
}
