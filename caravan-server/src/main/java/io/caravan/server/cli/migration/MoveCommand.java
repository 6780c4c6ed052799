package io.caravan.server.cli.migration;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.NameSink;
import io.caravan.server.cli.client.ReconnectingClients;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import io.caravan.server.cli.migration.Importer.Existing;
import io.caravan.server.document.MoveStep;
import io.caravan.server.document.RedirectTarget;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "move",
        description = {
            "Moves a document, or all whose names start with a prefix, to another server while clients keep writing. The"
                    + " document is copied until few values are missing, then fenced: writes are rejected with MOVING, and"
                    + " reads continue. It is copied to its end, compared, and deleted here once the other server has all"
                    + " of it. A redirect stays: clients get RELOCATED with the new address, over HTTP 307 with a Location.",
            "Every acknowledged write arrives there, once. If a move was interrupted, or a server was lost for long, run the"
                    + " move again; a fenced document stays fenced until then, or until --abandon."
        },
        footer = {
            "  caravan move letters/1 --to other.example:6380",
            "  caravan move --prefix letters/ --to other.example:6380 --redirect-to other.example:6380"
                    + " --redirect-to https://other.example:4437",
            "  caravan move letters/1 --to other.example:6380 --abandon"
        })
public final class MoveCommand extends TransferCommand {
    @Option(
            names = "--redirect-to",
            paramLabel = "ADDRESS",
            description = "Where clients find the other server, by default as --to: HOST:PORT over RESP,"
                    + " http://HOST:PORT or https://HOST:PORT over HTTP; may be given once for each.")
    private List<String> addresses = List.of();

    @Option(
            names = "--abandon",
            description = "Remove the fences of documents, and move none. What was copied stays there.")
    private boolean abandon;

    @Option(names = "--forget", description = "Remove the redirect of the document, which frees the name.")
    private boolean forget;

    @Override
    protected void run(Output output) throws IOException {
        check(name == null != (prefix == null), "either NAME or --prefix is required");
        check(!abandon || !forget, "--abandon and --forget exclude each other");
        check(!forget || name != null, "--forget needs NAME");
        requireAllListed();
        if (forget) {
            forget(output, Objects.requireNonNull(name));
        } else if (abandon) {
            abandon(output);
        } else {
            move(output);
        }
    }

    private void move(Output output) throws IOException {
        byte[] one = oneName();
        try (ReconnectingClients servers = servers()) {
            DocumentFollower follower =
                    new DocumentFollower(servers, Existing.REJECT, true, one, allNames(), this::printMessage);
            DocumentMigration migration = new DocumentMigration(servers, follower, redirectTarget());
            try (Progress progress = showProgress(migration::progress)) {
                if (one == null) {
                    migration.all(allNames());
                } else {
                    migration.one(one);
                }
            }
            setIncomplete(follower.rejected() > 0);
            migration.print(output);
        }
    }

    private RedirectTarget redirectTarget() {
        List<String> given = addresses.isEmpty() ? List.of(other.address()) : addresses;
        try {
            return RedirectTarget.parse(String.join(" ", given));
        } catch (IllegalArgumentException invalid) {
            check(false, "--redirect-to: " + invalid.getMessage());
            throw invalid;
        }
    }

    private void forget(Output output, String one) throws IOException {
        try (DocumentClient client = DocumentClient.ofAllGroups(server())) {
            if (!client.move(bytes(one), new MoveStep(MoveStep.Kind.FORGET, OptionalLong.empty(), null))) {
                throw ClientException.otherState("there is no redirect from '" + one + "'");
            }
        }
        output.print("removed 1 redirect", Map.of("forgotten", 1));
    }

    private void abandon(Output output) throws IOException {
        AtomicLong abandoned = new AtomicLong();
        try (DocumentClient client = DocumentClient.ofAllGroups(server())) {
            MoveStep step = new MoveStep(MoveStep.Kind.ABANDON, OptionalLong.empty(), null);
            NameSink unfence = names -> abandoned.addAndGet(
                    names.stream().filter(each -> client.move(each, step)).count());
            if (name != null) {
                unfence.take(List.of(bytes(name)));
            } else {
                client.scanPrefix(allNames(), unfence);
            }
        }
        long freed = abandoned.get();
        output.print(
                "removed the " + (freed == 1 ? "fence" : "fences") + " of " + Figures.count(freed, "document"),
                Map.of("abandoned", freed));
    }
}
