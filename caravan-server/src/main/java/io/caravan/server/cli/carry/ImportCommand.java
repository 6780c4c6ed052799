package io.caravan.server.cli.carry;

import io.caravan.server.cli.carry.Importer.Existing;
import io.caravan.server.cli.carry.Importer.Outcomes;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.RedisSource;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Brings documents of a file into a server. */
@Command(
        name = "import",
        description = {
            "Brings the documents of a file that 'caravan export' has made into a server, with their sequences and what they"
                    + " are beside their values, and reads each back to compare it. A document is visible once it is"
                    + " whole.",
            "A document whose name is taken is refused, and told; all others are imported. An import that was ended goes on"
                    + " with --resume.",
            "With --from, the lists of a running Redis instead: all of them are read again and compared, and what has"
                    + " changed is brought anew, until all are found to be the same. An import that was ended goes on"
                    + " when it is run again."
        },
        footer = {
            "  caravan import --from redis://redis.example:6379/0 --from-password-file secret",
            "  caravan import all.ndjson.zst",
            "  caravan import letters.ndjson.gz --resume --json",
            "  gunzip -c letters.ndjson.gz | caravan import --existing skip"
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class ImportCommand extends ClientCommand {
    private static final Path STANDARD_INPUT = Path.of("-");

    @Parameters(
            paramLabel = "FILE",
            arity = "0..1",
            description = "The file, compressed or not; without it, or with -, the standard input.")
    private @Nullable Path file;

    @Mixin
    private RedisSource redis;

    @Option(
            names = "--existing",
            paramLabel = "WHAT",
            defaultValue = "refuse",
            description = "What becomes of a document whose name is taken: ${COMPLETION-CANDIDATES}. A long one is not"
                    + " there while it is replaced.")
    private Existing existing;

    @Option(names = "--resume", description = "A document that is there already, and the same, counts as imported.")
    private boolean resume;

    private long refused;

    ImportCommand(Console console) {
        super(console);
    }

    @Override
    protected int exitCode() {
        return refused == 0 ? CommandLine.ExitCode.OK : ClientException.OTHER_STATE;
    }

    @Override
    protected void run(Output output) throws IOException {
        if (redis.isGiven()) {
            bringLists(output);
        } else {
            bringFile(output);
        }
    }

    private void bringLists(Output output) throws IOException {
        check(file == null, "FILE and --from exclude each other");
        try (RedisImport lists = new RedisImport(() -> connectTo(redis), this::connect, existing, this::tell);
                Progress progress = Progress.ticking(err(), console().showsProgress(), lists::progress)) {
            lists.run();
            refused = lists.refused();
            print(output, lists.line(), lists::write);
        }
    }

    private void bringFile(Output output) throws IOException {
        try (InputStream in =
                        file == null || file.equals(STANDARD_INPUT) ? console().in() : Files.newInputStream(file);
                Progress progress = new Progress(err(), console().showsProgress(), "documents");
                Importer importer =
                        new Importer(this::connect, existing, resume, Outcomes.refusals(this::tell), progress)) {
            bring(in, importer);
            refused = importer.refused();
            print(output, importer.line("imported"), importer::write);
        }
    }

    private static void bring(InputStream in, Importer importer) throws IOException {
        try {
            new ExportReader(Compression.decompressed(in)).readAll(importer);
        } catch (IOException damaged) {
            // What came whole before it counts.
            importer.finish();
            throw damaged;
        }
        importer.finish();
    }
}
