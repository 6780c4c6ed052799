package io.caravan.server.cli.archive;

import io.caravan.CaravanException;
import io.caravan.Shards;
import io.caravan.StoreConfig;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.archive.restore.WholeRestore;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "restore",
        description = {
            "Restores documents from an archive, in one of two ways.",
            "",
            "With NAME, a running server restores one document from its archive. The command prints the resulting"
                    + " sequences of the document and the number of added values. If the document exists, the server"
                    + " appends the values that it lacks at its end. The server rejects a restore that would take the"
                    + " document back in time, unless it is restored under another name (--as).",
            "",
            "With --archive and --data, the command rebuilds an entire store from the archive, without a server. It"
                    + " prints each restored document, and at the end each document that could not be restored, with"
                    + " the reason; the exit code is then 1. While documents are missing, the store is marked as"
                    + " incomplete, and is served only with --archive-hydrate.",
            "",
            "If the restore was interrupted, run the command again to continue. A restored store can be served, and"
                    + " archived to the same archive:"
                    + " 'caravan serve --data DIR --archive URL'.",
            ""
        },
        footer = {
            "  caravan restore letters/1",
            "  caravan restore letters/1 --at 12 --as letters/1-of-monday",
            "  caravan restore --archive s3://backups/caravan --data data > restored.txt"
        })
public final class RestoreCommand extends ClientCommand {
    private static final String BOTH = "NAME, --at and --as are for a running server, --archive, --data,"
            + " --allow-older and --allow-missing for an entire store: do not combine them";

    @Parameters(
            paramLabel = "NAME",
            converter = NameConverter.class,
            arity = "0..1",
            description = "The document, for a running server to restore.")
    private @Nullable String name;

    @Option(
            names = "--at",
            paramLabel = "GENERATION",
            description =
                    "Restore NAME from this generation; the default is the latest one. This option is required for a"
                            + " document that was deleted.")
    private @Nullable Long at;

    @Option(
            names = "--as",
            paramLabel = "OTHER",
            converter = NameConverter.class,
            description = "Restore NAME as a new document of this name, which must not exist.")
    private @Nullable String as;

    @Option(
            names = "--data",
            paramLabel = "DIR",
            description =
                    "The store's directory. It must not exist, be empty, or contain the result of an earlier restore of"
                            + " the same archive.")
    private @Nullable Path data;

    @Option(
            names = "--shards",
            paramLabel = "N",
            defaultValue = "1",
            description = "Shards of the new store, from 1 to 16. 'caravan serve' needs the same --shards.")
    private int groups;

    @Option(
            names = "--allow-older",
            description = "If the latest generation of a document is damaged, restore the newest older one that is"
                    + " intact.")
    private boolean allowOlder;

    @Option(
            names = "--allow-missing",
            description = "Mark the store as complete even if documents could not be restored, so that it can be served"
                    + " without them. The exit code is still 1.")
    private boolean allowMissing;

    @Mixin
    private ArchivePlace archive;

    @Override
    protected void run(Output output) throws IOException {
        if (name != null) {
            check(!isArchiveGiven() && data == null && !allowOlder && !allowMissing, BOTH);
            restoreOne(name, output);
        } else {
            check(at == null && as == null, BOTH);
            check(groups >= 1 && groups <= Shards.MAX_SHARDS, "--shards must be from 1 to " + Shards.MAX_SHARDS);
            archive.jobs();
            String how = "give NAME for a running server to restore, or --archive and --data for an entire store";
            restoreAll(given(archive.url(), how), given(data, how), output);
        }
    }

    /** Whether the command line names an archive. An archive in the environment may be meant for other commands. */
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
            output.print(line, restored);
        }
    }

    private void restoreAll(String url, Path directory, Output output) throws IOException {
        RestoreReport report = new RestoreReport(output);
        try (ObjectStore objects = archive.open(url)) {
            restoreAll(Archive.open(objects), directory, output, report);
            printMessage("to replace the lost server: caravan serve --data " + directory
                    + (groups == 1 ? "" : " --shards " + groups) + " --archive " + url);
        } catch (Output.ClosedException closed) {
            throw ClientException.failed(
                    "the output was closed before all documents were reported: run the command again", closed);
        } catch (UncheckedIOException unlisted) {
            throw ClientException.failed(
                    "the restored documents cannot be listed: " + unlisted.getMessage()
                            + "; run the command again to continue",
                    unlisted);
        } catch (CaravanException problem) {
            String done = report.figures().done() == 0
                    ? ""
                    : "; " + report.figures().done() + " documents are done: run the command again to continue";
            throw ClientException.failed(problem.getMessage() + done, problem);
        }
    }

    private void restoreAll(Archive opened, Path directory, Output output, RestoreReport report) throws IOException {
        long startedNanos = System.nanoTime();
        try (Progress ticking =
                showProgress(() -> RestoreReport.progress(report.figures(), System.nanoTime() - startedNanos))) {
            // The largest allowed maximum, because every archived value must fit.
            StoreConfig store = StoreConfig.builder(directory)
                    .maxValueBytes(StoreConfig.MAX_VALUE_BYTES)
                    .build();
            WholeRestore.toStore(opened, store, groups, archive.jobs(), allowOlder, allowMissing, report);
        }
        report.finish(allowMissing, this::printMessage);
    }
}
