package io.caravan.server.cli.client;

import static java.nio.charset.StandardCharsets.US_ASCII;

import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.commands.ProtocolCommand;

/** The server's own commands, which the client library does not know. */
enum Verb implements ProtocolCommand {
    APPEND("CARAVAN.APPEND"),
    READ("CARAVAN.READ"),
    TRIM("CARAVAN.TRIM"),
    INFO("CARAVAN.INFO"),
    ARCHIVE("CARAVAN.ARCHIVE"),
    RESTORE("CARAVAN.RESTORE");

    private final byte[] raw;

    Verb(String word) {
        raw = word.getBytes(US_ASCII);
    }

    @Override
    public byte[] getRaw() {
        return raw;
    }

    /** The command about a document, without its further words. */
    CommandArguments of(byte[] name) {
        return new CommandArguments(this).add(name);
    }
}
