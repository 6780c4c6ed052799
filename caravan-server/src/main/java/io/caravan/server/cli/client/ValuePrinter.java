package io.caravan.server.cli.client;

import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import picocli.CommandLine.Option;

/** A mixin for commands that print values. */
final class ValuePrinter {
    @Option(names = "--raw", description = "Print only the bytes of the values, without line breaks.")
    private boolean raw;

    boolean raw() {
        return raw;
    }

    void print(Value value, boolean json, Output output) throws IOException {
        if (json) {
            output.object(fields -> {
                fields.writeNumberField("sequence", value.sequence());
                Output.textOrBase64(fields, "value", "base64", value.bytes());
            });
        } else if (raw) {
            output.bytes(value.bytes());
        } else {
            output.line(value.bytes());
        }
    }
}
