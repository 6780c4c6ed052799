package io.caravan.server.cli.document;

import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.OptionalLong;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
        name = "tail",
        description = {
            "Prints the values of a document as they are appended, until the document is closed or deleted, or until"
                    + " Ctrl-C. Waits for a document that does not exist yet. Prints values in the same form as"
                    + " 'caravan get'.",
            "If the connection is lost, the command reconnects and continues with the next sequence, so that it"
                    + " neither skips nor repeats a value. In a cluster, it asks the node of --server for the"
                    + " document's leader."
        },
        footer = {
            "  caravan tail logs/today",
            "  caravan tail letters/1 --from 0 --json",
            "  caravan tail logs/today --from now --count 1"
        })
public final class TailCommand extends ValueCommand {
    @Option(
            names = "--from",
            paramLabel = "SEQUENCE|now",
            defaultValue = "now",
            converter = Start.class,
            description = "First sequence to print, or now, which starts with the next value that is appended.")
    private OptionalLong from;

    /** Converts the first sequence to print; empty for {@code now}. */
    static final class Start implements CommandLine.ITypeConverter<OptionalLong> {
        @Override
        public OptionalLong convert(String text) {
            if (text.equals("now")) {
                return OptionalLong.empty();
            }
            if (!text.matches("[0-9]{1,18}")) {
                throw new CommandLine.TypeConversionException("'" + text + "' is neither a sequence nor now");
            }
            return OptionalLong.of(Long.parseLong(text));
        }
    }

    @Override
    protected void run(Output output) throws IOException {
        Follower follower = new Follower(this::connect, bytes(name), from, maxValues(), this::printMessage);
        runUntilSignal(follower::stop, () -> {
            follower.follow(value -> print(value, output), output::flush);
            output.flush();
        });
    }
}
