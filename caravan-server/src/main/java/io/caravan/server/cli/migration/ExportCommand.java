package io.caravan.server.cli.migration;

import io.caravan.catalog.DocumentName;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "export",
        description = {
            "Writes a document, or all that the user may read, to a file: values, sequences, and attributes. 'caravan"
                    + " import' imports them into any server.",
            "Each document is exported as it was at one moment; different documents may be from different moments. The"
                    + " file gets its name when it is complete and durable. If the export is interrupted, start it again."
                    + " Without --out, the export is written to standard output."
        },
        footer = {
            "  caravan export --out all.export.zst",
            "  caravan export --prefix letters/ --out letters.export.gz",
            "  caravan export letters/1 | caravan import --server other.example:6380"
        })
public final class ExportCommand extends SourceCommand {
    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "The file to create, which must not exist. It is compressed if its name ends in .gz or .zst.")
    private @Nullable Path file;

    @Override
    protected boolean onlyReads() {
        return file == null;
    }

    @Override
    protected void run(Output output) throws IOException {
        checkSelection();
        if (file == null) {
            export(output);
        } else {
            toFile(file, output);
        }
    }

    private void toFile(Path to, Output output) throws IOException {
        try (ExportFile made = new ExportFile(to)) {
            TransferTotals totals = export(new Output(made.out(), false));
            made.finish();
            String line = "exported " + totals.transferred("document") + " to " + to;
            output.print(DocumentName.printable(line), Output.fields(totals.fields(), "file", to.toString()));
        }
    }

    private TransferTotals export(Output to) throws IOException {
        ExportWriter writer = new ExportWriter(to.stream());
        boolean complete;
        try (Progress progress = countProgress("documents");
                DocumentClient server = DocumentClient.ofAllGroups(server())) {
            complete = read(server, writer, progress);
        }
        if (!complete) {
            throw ClientException.otherState("not all documents were exported; try again");
        }
        writer.finish();
        return writer.totals();
    }
}
