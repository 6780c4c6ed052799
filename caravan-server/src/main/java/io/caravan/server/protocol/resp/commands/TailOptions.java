package io.caravan.server.protocol.resp.commands;

import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;

/**
 * The words of {@code CARAVAN.READ key FROM seq [COUNT n] [BLOCK ms]}.
 *
 * @param from the first sequence to read, or {@link #LATEST}
 * @param count greatest number of values
 * @param blockMillis how long to wait for the first one; 0 is not at all
 */
record TailOptions(long from, long count, long blockMillis) {
    /** Stands for the sequence that the next value will get: {@code $}. */
    static final long LATEST = -1;
    /** A wait ends after this time, so that none is left behind for ever; clients ask again. */
    static final long MAX_BLOCK_MILLIS = 3_600_000;

    private static final int FROM_WORD = 3;

    static TailOptions of(Command command) {
        if (!command.is(2, "FROM")) {
            throw CommandException.syntax();
        }
        long from = command.is(FROM_WORD, "$") ? LATEST : command.count(FROM_WORD);
        long count = Long.MAX_VALUE;
        long blockMillis = 0;
        for (int i = FROM_WORD + 1; i < command.size(); i += 2) {
            if (i + 1 == command.size()) {
                throw CommandException.syntax();
            }
            switch (command.keyword(i)) {
                case "COUNT" -> count = command.count(i + 1);
                case "BLOCK" -> blockMillis = command.count(i + 1);
                default -> throw CommandException.syntax();
            }
        }
        check(count > 0, "COUNT must be 1 or more");
        check(
                blockMillis <= MAX_BLOCK_MILLIS,
                "BLOCK must be at most " + MAX_BLOCK_MILLIS + " ms; ask again after that");
        return new TailOptions(from, count, blockMillis);
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new CommandException("ERR " + otherwise);
        }
    }

    boolean blocks() {
        return blockMillis > 0;
    }
}
