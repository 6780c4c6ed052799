package io.caravan.bench.hostloss;

import io.caravan.bench.server.RespConnection;
import io.caravan.bench.server.RespConnection.Reply;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads documents out of a server that nobody writes to. */
final class FoundDocuments implements AutoCloseable {
    private final RespConnection connection;

    FoundDocuments(InetSocketAddress server) throws IOException {
        connection = new RespConnection(server);
    }

    /** How many there are. */
    long count() throws IOException {
        return number(connection.call(RespConnection.ascii("DBSIZE")).text());
    }

    /** A whole document; null when there is none. */
    @Nullable
    FoundDocument read(byte[] name) throws IOException {
        List<byte[]> info =
                connection.call(RespConnection.ascii("CARAVAN.INFO"), name).values();
        if (info == null) {
            return null;
        }
        Reply values = connection.call(
                RespConnection.ascii("LRANGE"), name, RespConnection.ascii("0"), RespConnection.ascii("-1"));
        List<byte[]> all = values.values();
        return new FoundDocument(field(info, "first"), field(info, "next"), all == null ? List.of() : all);
    }

    private static long field(List<byte[]> info, String name) throws IOException {
        for (int i = 0; i + 1 < info.size(); i += 2) {
            if (text(info.get(i)).equals(name)) {
                return number(text(info.get(i + 1)));
            }
        }
        throw new IOException("the server's CARAVAN.INFO tells nothing of '" + name + "'");
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static long number(@Nullable String text) throws IOException {
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException other) {
            throw new IOException("the server answered " + text + " where a number was expected", other);
        }
    }

    @Override
    public void close() throws IOException {
        connection.close();
    }
}
