package io.caravan.server.protocol.resp.commands;

import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;

/**
 * On what a new expiry depends: the options of {@code EXPIRE}. A document that does not expire counts as one that
 * expires after all others.
 *
 * @param absent {@code NX}: only when there is none
 * @param present {@code XX}: only when there is one
 * @param later {@code GT}: only when the new one is later
 * @param earlier {@code LT}: only when the new one is earlier
 */
record ExpiryCondition(boolean absent, boolean present, boolean later, boolean earlier) {
    /** Stands for the moment at which a document expires that does not. */
    static final long NEVER = Long.MAX_VALUE;

    private static final int FIRST_OPTION_WORD = 3;

    /**
     * Takes the condition from a command's words.
     *
     * @throws CommandException when they contradict each other
     */
    static ExpiryCondition of(Command command) {
        boolean absent = false;
        boolean present = false;
        boolean later = false;
        boolean earlier = false;
        for (int i = FIRST_OPTION_WORD; i < command.size(); i++) {
            switch (command.keyword(i)) {
                case "NX" -> absent = true;
                case "XX" -> present = true;
                case "GT" -> later = true;
                case "LT" -> earlier = true;
                default -> throw new CommandException("ERR Unsupported option " + command.shortText(i));
            }
        }
        if (absent && (present || later || earlier)) {
            throw new CommandException("ERR NX and XX, GT or LT options at the same time are not compatible");
        }
        if (later && earlier) {
            throw new CommandException("ERR GT and LT options at the same time are not compatible");
        }
        return new ExpiryCondition(absent, present, later, earlier);
    }

    /** Whether an expiry may replace another. */
    boolean holds(long oldMillis, long newMillis) {
        return !(absent && oldMillis != NEVER
                || present && oldMillis == NEVER
                || later && newMillis <= oldMillis
                || earlier && newMillis >= oldMillis);
    }
}
