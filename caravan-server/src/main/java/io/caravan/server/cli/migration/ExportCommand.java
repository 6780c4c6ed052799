package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.RespDocumentClient;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
        name = "export",
        description = {
            "Writes a document, or all that the user may read, to a file: values, sequences, and attributes, as lines of"
                    + " JSON. 'caravan import' imports them into any server.",
            "Each document is exported as it was at one moment; different documents may be from different moments. The"
                    + " file gets its name when it is complete and durable; until then, its name ends in .partial."
                    + " Without --out, the export is written to standard output."
        },
        footer = {
            "  caravan export --out all.ndjson.zst",
            "  caravan export --prefix letters/ --out letters.ndjson.gz --resume",
            "  caravan export letters/1 | grep '\"type\":\"value\"'"
        })
public final class ExportCommand extends ClientCommand {
    @Parameters(
            paramLabel = "NAME",
            converter = NameConverter.class,
            arity = "0..1",
            description = "The document; without it, all documents.")
    private @Nullable String name;

    @Option(names = "--prefix", paramLabel = "PREFIX", description = "All documents whose names start with this.")
    private @Nullable String prefix;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "The file to create, which must not exist. It is compressed if its name ends in .gz or .zst.")
    private @Nullable Path file;

    @Option(
            names = "--resume",
            description = "Resume an interrupted export to this file, after its last complete document.")
    private boolean resume;

    @Override
    protected boolean onlyReads() {
        return file == null;
    }

    @Override
    protected void run(Output output) throws IOException {
        check(name == null || prefix == null, "NAME and --prefix exclude each other");
        check(!resume || file != null, "--resume needs --out");
        if (file == null) {
            ExportWriter writer = new ExportWriter(console().out());
            export(writer, Set.of());
            writer.finish();
        } else {
            toFile(file, output);
        }
    }

    private void toFile(Path to, Output output) throws IOException {
        try (ExportFile made = new ExportFile(to)) {
            ExportWriter writer = resume ? made.resume() : made.begin();
            export(writer, made.names());
            made.finish();
            TransferTotals totals = writer.totals();
            String line = "exported " + totals.transferred("document") + " to " + to;
            output.print(DocumentName.printable(line), Output.fields(totals.fields(), "file", to.toString()));
        }
    }

    private void export(ExportWriter writer, Set<DocumentName> without) throws IOException {
        List<ServerConnection.Connector> servers = name == null ? leaders() : List.of(this::connect);
        boolean whole = true;
        try (Progress progress = countProgress("documents")) {
            for (ServerConnection.Connector server : servers) {
                try (DocumentClient client = new RespDocumentClient(server)) {
                    Exporter exporter = new Exporter(client, writer, progress);
                    if (name == null) {
                        requireComplete(client);
                        exporter.all(bytes(Objects.requireNonNullElse(prefix, "")), without);
                    } else if (!without.contains(DocumentName.of(name)) && !exporter.one(bytes(name))) {
                        throw ClientException.missing(name);
                    }
                    exporter.failures().forEach(this::printMessage);
                    whole &= exporter.failures().isEmpty();
                }
            }
        }
        if (!whole) {
            throw ClientException.otherState("not all documents were exported; try again with --resume");
        }
    }
}
