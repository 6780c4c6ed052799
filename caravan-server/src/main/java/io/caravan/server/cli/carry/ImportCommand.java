package io.caravan.server.cli.carry;

import io.caravan.server.cli.carry.Importer.Existing;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ImportSource;
import io.caravan.server.cli.client.RespDocumentClient;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Imports documents from a file, a Redis server, or a Durable Streams server. */
@Command(
        name = "import",
        description = {
            "Brings the documents of a file that 'caravan export' has made into a server, with their sequences and"
                + " what they are beside their values, and reads each back to compare it. A document is visible once"
                + " it is whole.",
            "A document whose name exists is rejected and reported; all others are imported. An import that was ended"
                    + " goes on with --resume.",
            "With --from redis://, the lists of a running Redis instead: all of them are read again and compared, and"
                    + " what has changed is brought anew, until all are found to be the same.",
            "With --from http://, streams of a server of Durable Streams, such as Caravan's, with type, expiry and"
                + " end, from their first value to the end that they have then. Their names come from --name or"
                + " --names, because the protocol has no list. One of JSON comes message by message, byte for byte; of"
                + " any other each answer of the server is a value, and one of more than 256 KiB several.",
            "An import with --from that was ended goes on when it is run again: what is there and the same is left."
        },
        footer = {
            "  caravan import --from redis://redis.example:6379/0 --from-password-file secret",
            "  caravan import --from http://other.example:4437/v1/stream --name letters/1 --name letters/2",
            "  caravan import --from https://streams.example/v1/stream --names names.txt --from-password-file secret",
            "  caravan import all.ndjson.zst",
            "  caravan import letters.ndjson.gz --resume --json",
            "  gunzip -c letters.ndjson.gz | caravan import --existing skip"
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class ImportCommand extends ClientCommand {
    private static final Path STANDARD_INPUT = Path.of("-");

    @Parameters(
            paramLabel = "FILE",
            arity = "0..1",
            description = "The file, compressed or not; without it, or with -, the standard input.")
    private @Nullable Path file;

    @Mixin
    private ImportSource source;

    @Option(
            names = "--name",
            paramLabel = "NAME",
            description = "With --from http://: a stream to import, by what follows PATH; may be repeated.")
    private List<String> names = List.of();

    @Option(
            names = "--names",
            paramLabel = "FILE",
            description = "With --from http://: a file of the names of streams, one in each line.")
    private @Nullable Path namesFile;

    @Option(
            names = "--existing",
            paramLabel = "WHAT",
            defaultValue = "reject",
            description = "What becomes of a document whose name is taken: ${COMPLETION-CANDIDATES}. One"
                    + " that is replaced is there until the other one is whole.")
    private Existing existing;

    @Option(names = "--resume", description = "A document that is there already, and the same, counts as imported.")
    private boolean resume;

    private long refused;

    @Override
    protected int exitCode() {
        return refused == 0 ? CommandLine.ExitCode.OK : ClientException.OTHER_STATE;
    }

    @Override
    protected void run(Output output) throws IOException {
        check(file == null || !source.isGiven(), "FILE and --from exclude each other");
        boolean named = !names.isEmpty() || namesFile != null;
        check(source.isHttp() || !named, "--name and --names are for --from http://");
        if (source.isHttp()) {
            check(named, "--from http:// needs the names of streams: --name NAME or --names FILE");
            bringStreams(output);
        } else if (source.isGiven()) {
            bringLists(output);
        } else {
            bringFile(output);
        }
    }

    private void bringStreams(Output output) throws IOException {
        try (StreamImport streams =
                        new StreamImport(linkTo(source), this::connect, existing, this::tell, Retries.Pause.REAL);
                Progress progress = Progress.ticking(err(), console().showsProgress(), streams::progress)) {
            for (String name : names) {
                streams.bring(bytes(name));
            }
            if (namesFile != null) {
                bringNamed(namesFile, streams);
            }
            refused = streams.refused();
            print(output, streams.line(), streams::write);
        }
    }

    private void bringNamed(Path file, StreamImport streams) throws IOException {
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String name = lines.readLine(); name != null; name = lines.readLine()) {
                if (!name.isEmpty()) {
                    streams.bring(bytes(name));
                }
            }
        } catch (CharacterCodingException notText) {
            throw new IOException("--names " + file + " is not UTF-8", notText);
        }
    }

    private void bringLists(Output output) throws IOException {
        try (RedisImport lists = new RedisImport(() -> connectTo(source), this::connect, existing, this::tell);
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
                Importer importer = new Importer(
                        new RespDocumentClient(this::connect),
                        existing,
                        resume,
                        new Importer.Telling(this::tell),
                        progress)) {
            bring(in, importer);
            refused = importer.refused();
            print(output, importer.line("imported"), importer::write);
        }
    }

    private static void bring(InputStream in, Importer importer) throws IOException {
        try {
            new ExportReader(Compression.decompressed(in)).readAll(importer);
        } catch (IOException damaged) {
            // The intact documents before the damage count as imported.
            importer.finish();
            throw damaged;
        }
        importer.finish();
    }
}
