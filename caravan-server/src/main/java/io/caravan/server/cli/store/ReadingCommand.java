package io.caravan.server.cli.store;

import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.io.UncheckedIOException;
import picocli.CommandLine;

/** The base of commands that print the contents of a store's files, of any size, and write nothing to them. */
abstract class ReadingCommand extends DirectoryCommand {
    private final Console console;

    ReadingCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws IOException {
        try (Output output = new Output(console.out())) {
            return run(output);
        } catch (Output.ClosedException enough) {
            return CommandLine.ExitCode.OK;
        } catch (UncheckedIOException failed) {
            if (failed.getCause() instanceof Output.ClosedException) {
                return CommandLine.ExitCode.OK;
            }
            throw failed.getCause();
        }
    }

    /** Prints all output, and returns the exit code. */
    abstract int run(Output output) throws IOException;

    final Console console() {
        return console;
    }
}
