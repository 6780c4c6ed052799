package io.caravan.server.cli;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.caravan.testing.ServerProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;

/**
 * Clients that attack a server together. Each client repeats its requests and reconnects when its connection is closed.
 */
final class HostileClients implements AutoCloseable {
    private static final int MANY = 330_000;
    private static final long RECONNECT_NANOS = 20_000_000;
    private static final int PIECE_BYTES = 64 * 1024;
    /** The time, in milliseconds, after which a client that cannot send any bytes counts as blocked. */
    private static final long BLOCKED_MILLIS = 100;
    /** The maximum factor by which an attack is extended while the server still reads bytes. */
    private static final int MOST_TIMES = 4;

    private static final String TINY_WORDS =
            "*" + (MANY + 2) + "\r\n$5\r\nRPUSH\r\n$1\r\nq\r\n" + "$1\r\na\r\n".repeat(MANY);
    private static final String MEBIBYTE = "$1000000\r\n" + "x".repeat(1_000_000) + "\r\n";
    private static final String SLOW_PATTERN = "*" + "a".repeat(900) + "[" + "b".repeat(3_000) + "]";
    private static final String HEADERS = "a:b\r\n".repeat(3_000);
    private static final String LIVE = live();

    /**
     * An attack by several clients that send the same kind of request.
     *
     * @param clients the number of clients
     * @param http whether the clients use HTTP
     * @param reads whether the clients read the replies
     * @param first returns the first bytes of the client with this number
     * @param then the bytes that follow repeatedly; if empty, the client only keeps the connection open
     */
    record Attack(String name, int clients, boolean http, boolean reads, IntFunction<String> first, String then) {}

    static final List<Attack> ATTACKS = List.of(
            resp("many tiny words behind a request that waits", 8, i -> "BLPOP nothing-" + i + " 0\r\n", TINY_WORDS),
            resp("half of large requests", 16, i -> "*9\r\n$5\r\nRPUSH\r\n$1\r\nk\r\n" + MEBIBYTE.repeat(6), ""),
            resp("half of requests of tiny words", 30, i -> TINY_WORDS.substring(0, TINY_WORDS.length() - 100), ""),
            resp("half of long lines", 400, i -> "RPUSH k " + "a ".repeat(30_000), ""),
            resp(
                    "tiny commands behind a request that waits",
                    8,
                    i -> "BLPOP nothing-" + i + " 0\r\n",
                    "PING\r\n".repeat(10_000)),
            resp("large replies that no client reads", 20, i -> "", "LRANGE long 0 -1\r\n".repeat(200)),
            resp("descriptions that no client reads", 20, i -> "", "INFO\r\nCOMMAND\r\n".repeat(200)),
            reading("descriptions", 8, i -> "", "INFO\r\nCONFIG GET *\r\nCOMMAND\r\n".repeat(20)),
            reading("names looked for by a slow pattern", 8, i -> "", scans()),
            reading(
                    "messages to slow patterns",
                    8,
                    i -> "HELLO 3\r\n" + words("PSUBSCRIBE", "*" + i + "a".repeat(1_000) + "b"),
                    words("PUBLISH", "a".repeat(1_024), "m").repeat(100)),
            resp("subscriptions to long names", 40, HostileClients::subscriptions, ""),
            resp("waits for long names", 60, i -> pops(i, 1_000) + pops(i, 10), ""),
            resp("transactions that are not executed", 40, i -> "MULTI\r\n" + "LLEN a\r\n".repeat(16_000), ""),
            reading("large writes", 4, i -> "", "*3\r\n$5\r\nRPUSH\r\n$1\r\nw\r\n" + MEBIBYTE),
            resp("nonsense", 50, i -> "", "$%&\u0016\u0003\u0001/()\r\n*1\r\n$-7\r\n"),
            resp("connections that say nothing", 1_000, i -> "", ""),
            resp("connections for a request each", 100, i -> "PING\r\nQUIT\r\n", ""),
            http(
                    "connections for a request each over HTTP",
                    100,
                    i -> "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                    ""),
            http("half of bodies", 60, i -> post("/v1/stream/h" + i, "", 1_000_000) + "x".repeat(900_000), ""),
            http("half of heads", 400, i -> "GET /healthz HTTP/1.1\r\nHost: a\r\n" + "a:b\r\n".repeat(1_000), ""),
            http(
                    "many headers",
                    200,
                    i -> "GET /v1/stream/long?offset=now&live=long-poll HTTP/1.1\r\nHost: 127.0.0.1\r\n" + HEADERS
                            + "\r\n",
                    ""),
            http(
                    "pages that no client reads",
                    20,
                    i -> "",
                    "GET /v1/stream/long?offset=-1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".repeat(200)),
            http(
                    "followers of many long names",
                    200,
                    i -> post("/v1/live", "Content-Type: application/json\r\n", LIVE.length()) + LIVE,
                    ""));

    private final ServerProcess server;
    private final Attack attack;
    private final List<Thread> threads = new ArrayList<>();
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private final AtomicLong sentBytes = new AtomicLong();
    private volatile boolean stopping;

    HostileClients(ServerProcess server, Attack attack) {
        this.server = server;
        this.attack = attack;
    }

    private static Attack resp(String name, int clients, IntFunction<String> first, String then) {
        return new Attack(name, clients, false, false, first, then);
    }

    private static Attack reading(String name, int clients, IntFunction<String> first, String then) {
        return new Attack(name, clients, false, true, first, then);
    }

    private static Attack http(String name, int clients, IntFunction<String> first, String then) {
        return new Attack(name, clients, true, false, first, then);
    }

    static String longName(int i) {
        return i + "a".repeat(1_000);
    }

    private static String words(String... words) {
        StringBuilder request = new StringBuilder("*" + words.length + "\r\n");
        for (String word : words) {
            request.append('$')
                    .append(word.length())
                    .append("\r\n")
                    .append(word)
                    .append("\r\n");
        }
        return request.toString();
    }

    private static String scans() {
        return words("SCAN", "0", "COUNT", "10000", "MATCH", SLOW_PATTERN) + words("KEYS", SLOW_PATTERN);
    }

    private static String subscriptions(int client) {
        StringBuilder requests = new StringBuilder();
        for (int i = 0; i < 10; i++) {
            String[] names = new String[1_001];
            names[0] = "SUBSCRIBE";
            for (int name = 1; name < names.length; name++) {
                names[name] = client + "-" + i + "-" + longName(name);
            }
            requests.append(words(names));
        }
        for (int i = 0; i < 100; i++) {
            requests.append(words("PSUBSCRIBE", "*" + client + "-" + i + "b".repeat(3_000)));
        }
        return requests.toString();
    }

    private static String pops(int client, int count) {
        String[] words = new String[count + 2];
        words[0] = "BLPOP";
        for (int i = 1; i <= count; i++) {
            words[i] = client + "-" + longName(i) + "x";
        }
        words[count + 1] = "0";
        return words(words);
    }

    private static String post(String path, String headers, int length) {
        return "POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers + "Content-Length: " + length + "\r\n\r\n";
    }

    private static String live() {
        StringBuilder streams = new StringBuilder("{\"streams\":[");
        for (int i = 0; i < 800; i++) {
            streams.append(i == 0 ? "" : ",")
                    .append("{\"path\":\"")
                    .append(longName(i))
                    .append("\",\"offset\":\"now\"}");
        }
        return streams.append("]}").toString();
    }

    /**
     * Attacks for {@code time}, or up to {@link #MOST_TIMES} times as long while the server still reads from a client.
     */
    void attack(Duration time) throws InterruptedException {
        byte[] then = attack.then().getBytes(ISO_8859_1);
        for (int i = 0; i < attack.clients(); i++) {
            byte[] first = attack.first().apply(i).getBytes(ISO_8859_1);
            Thread thread = new Thread(() -> attackOnAndOn(first, then), "hostile-" + i);
            threads.add(thread);
            thread.start();
        }
        long start = System.nanoTime();
        long sent;
        boolean continues;
        do {
            sent = sentBytes.get();
            Thread.sleep(BLOCKED_MILLIS);
            long passed = System.nanoTime() - start;
            continues = passed < time.toNanos() || sent < sentBytes.get() && passed < MOST_TIMES * time.toNanos();
        } while (continues);
    }

    private void attackOnAndOn(byte[] first, byte[] then) {
        while (!stopping) {
            try (Socket socket =
                    new Socket(InetAddress.getLoopbackAddress(), attack.http() ? server.httpPort() : server.port())) {
                sockets.add(socket);
                if (!stopping) {
                    // Discards unsent bytes when the connection is closed.
                    socket.setSoLinger(true, 0);
                    attackOnce(socket, first, then);
                }
                sockets.remove(socket);
            } catch (IOException closed) {
                // The server or the end of the attack closed the connection.
            }
            // Limits the processor time of the attackers, because the server needs it.
            LockSupport.parkNanos(RECONNECT_NANOS);
        }
    }

    private void attackOnce(Socket socket, byte[] first, byte[] then) throws IOException {
        Thread reader = new Thread(() -> readAll(socket), "hostile-reader");
        if (attack.reads()) {
            reader.setDaemon(true);
            reader.start();
        }
        OutputStream out = socket.getOutputStream();
        send(out, first);
        while (then.length > 0 && !stopping) {
            send(out, then);
        }
        if (then.length == 0 && !stopping) {
            // Waits until the server closes the connection.
            readAll(socket);
        }
    }

    private void send(OutputStream out, byte[] bytes) throws IOException {
        for (int at = 0; at < bytes.length && !stopping; at += PIECE_BYTES) {
            int piece = Math.min(PIECE_BYTES, bytes.length - at);
            out.write(bytes, at, piece);
            sentBytes.addAndGet(piece);
        }
    }

    private static void readAll(Socket socket) {
        byte[] some = new byte[1 << 16];
        try {
            while (socket.getInputStream().read(some) >= 0) {
                // Discards the bytes.
            }
        } catch (IOException closed) {
            // The server or the end of the attack closed the connection.
        }
    }

    @Override
    public void close() throws IOException {
        stopping = true;
        for (Socket socket : sockets) {
            socket.close();
        }
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
