package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.DocumentClient;
import io.caravan.server.cli.client.DocumentClient.Description;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.OptionalLong;
import picocli.CommandLine.Command;

@Command(
        name = "get",
        description = {
            "Prints the values of a document, oldest first, up to the last value that exists when the command"
                    + " starts.",
            "As text, each value is printed as its bytes, followed by a line break. As JSON, each value is an object"
                    + " {\"sequence\":n,\"value\":\"text\"}, or {\"sequence\":n,\"base64\":\"...\"} if it is not"
                    + " UTF-8."
        },
        footer = {
            "  caravan get letters/1",
            "  caravan get letters/1 --from 1000 --count 10 --json",
            "  caravan get pictures --from 7 --count 1 --raw > picture.png"
        })
public final class GetCommand extends ValueCommand {
    @Override
    protected void run(Output output) throws IOException {
        OptionalLong from = first();
        long most = maxValues();
        try (DocumentClient documents = documents();
                Progress progress = countProgress("values")) {
            Description document = documents.find(bytes(name));
            if (document == null) {
                throw ClientException.missing(name);
            }
            long first = from.orElse(document.first());
            checkRetained(document, first);
            long end = first + Math.min(most, document.next() - first);
            documents.read(bytes(name), document.from(first).until(end), value -> {
                print(value, output);
                progress.add(1, value.bytes().length);
            });
        }
    }

    private void checkRetained(Description document, long first) {
        if (first < document.first() || first > document.next()) {
            throw ClientException.otherState("'" + name + "' has no sequence " + first + ": it retains those from "
                    + document.first() + " up to, not including, " + document.next());
        }
    }
}
