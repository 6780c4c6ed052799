package io.caravan.server.cli.carry;

import io.caravan.server.cli.carry.Importer.Existing;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.Retries;
import io.caravan.server.cli.client.SourceServer;
import io.caravan.server.cli.client.TargetServer;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.common.UntilSignal;
import java.io.IOException;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Copies documents from one running server to another. */
@Command(
        name = "copy",
        description = {
            "Copies a document, or all that the user may read, from the server to another one, with their sequences"
                + " and what they are beside their values, and reads each back to compare it. Each is as it is at one"
                + " moment, and visible there once it is whole. The servers need not reach each other. The other one"
                + " is reached over RESP, or over HTTP where --to is a URL.",
            "A document whose name exists there is rejected and reported; all others are copied. A copy that was ended"
                    + " goes on with --resume."
        },
        footer = {
            "  caravan copy letters/1 --to other.example:6380",
            "  caravan copy --prefix letters/ --to other.example:6380 --to-user mover --to-password-file secret"
                    + " --resume",
            "  caravan copy --prefix letters/ --to other.example:6380 --follow",
            "  caravan copy --prefix letters/ --to https://other.example:4437 --to-password-file secret"
        })
@SuppressWarnings("NullAway.Init") // picocli sets the fields
public final class CopyCommand extends ClientCommand {
    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document; without it, all documents.")
    private @Nullable String name;

    @Option(names = "--prefix", paramLabel = "PREFIX", description = "All documents whose names begin so.")
    private @Nullable String prefix;

    @Mixin
    private SourceServer source;

    @Mixin
    private TargetServer other;

    @Option(
            names = "--existing",
            paramLabel = "WHAT",
            defaultValue = "reject",
            description = "What becomes of a document whose name is taken there: ${COMPLETION-CANDIDATES}.")
    private Existing existing;

    @Option(names = "--resume", description = "A document that is there already, and the same, counts as copied.")
    private boolean resume;

    @Option(
            names = "--follow",
            description =
                    "Go on with what changes, until Ctrl-C or until the document is moved; what is there already, and"
                            + " the same, is gone on with.")
    private boolean follow;

    private boolean incomplete;

    @Override
    protected int exitCode() {
        return incomplete ? ClientException.OTHER_STATE : CommandLine.ExitCode.OK;
    }

    @Override
    protected void run(Output output) throws IOException {
        check(name == null || prefix == null, "NAME and --prefix exclude each other");
        if (name == null) {
            requireAllListed(source);
        }
        if (follow) {
            follow(output);
        } else {
            copy(output);
        }
    }

    private void follow(Output output) throws IOException {
        DocumentSync mirror = new DocumentSync(existing, false, new RateLimitRetries(Retries.Pause.REAL, this::tell));
        byte[] one = name == null ? null : bytes(name);
        byte[] all = bytes(Objects.requireNonNullElse(prefix, ""));
        try (Pair pair = new Pair(() -> carrierFrom(source), () -> carrierTo(other), this::tell)) {
            Following following = new Following(pair, mirror, existing, one, all, this::tell);
            Output.Writing work = () -> {
                try (Progress progress = Progress.ticking(err(), console().showsProgress(), following::progress)) {
                    following.follow();
                }
                print(output, following.line(), following::write);
                output.flush();
                incomplete = following.refused() > 0;
            };
            UntilSignal.run("caravan-copy-end", pair::stop, work, this::exitCode);
        }
    }

    private void copy(Output output) throws IOException {
        try (Progress progress = new Progress(err(), console().showsProgress(), "documents");
                Progress silent = new Progress(err(), false, "");
                Importer importer =
                        new Importer(carrierTo(other), existing, resume, new Importer.Telling(this::tell), silent);
                Exporter exporter = new Exporter(carrierFrom(source), importer, progress)) {
            if (name == null) {
                exporter.all(bytes(Objects.requireNonNullElse(prefix, "")), Set.of());
            } else if (!exporter.one(bytes(name))) {
                throw ClientException.missing(name);
            }
            importer.finish();
            exporter.failures().forEach(this::tell);
            incomplete = importer.refused() > 0 || !exporter.failures().isEmpty();
            print(output, importer.line("copied"), importer::write);
        }
    }
}
