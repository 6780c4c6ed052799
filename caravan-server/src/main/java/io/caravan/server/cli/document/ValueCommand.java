package io.caravan.server.cli.document;

import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.DocumentClient.Value;
import io.caravan.server.cli.common.CliCommand.ReadOnly;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The base class of the commands that print the values of a document. */
abstract class ValueCommand extends ClientCommand implements ReadOnly {
    @Parameters(paramLabel = "NAME", converter = NameConverter.class, description = "The document.")
    protected String name;

    @Option(
            names = "--from",
            paramLabel = "SEQUENCE",
            description = "First sequence to print. By default, 'caravan get' begins with the first that the document"
                    + " retains, and 'caravan tail' with the next that is appended.")
    private @Nullable Long from;

    @Option(names = "--count", paramLabel = "N", description = "Number of values after which the command ends.")
    private @Nullable Long count;

    @Option(names = "--raw", description = "Print only the bytes of the values, without line breaks.")
    private boolean raw;

    /** Returns the first sequence to print; empty for the default of the command. */
    protected final OptionalLong first() {
        atLeast(0, from, "--from", 0);
        return from == null ? OptionalLong.empty() : OptionalLong.of(from);
    }

    /** Checks the options, and returns the maximum number of values to print. */
    protected final long maxValues() {
        check(!raw || !json(), "--raw and --json exclude each other");
        return atLeast(1, count, "--count", Long.MAX_VALUE);
    }

    protected final void print(Value value, Output output) throws IOException {
        if (json()) {
            output.object(
                    Output.fields("sequence", value.sequence(), Output.textOrBase64("value", "base64", value.bytes())));
        } else if (raw) {
            output.bytes(value.bytes());
        } else {
            output.line(value.bytes());
        }
    }
}
