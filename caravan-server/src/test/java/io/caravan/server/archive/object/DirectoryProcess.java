package io.caravan.server.archive.object;

import io.caravan.testing.ChildJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Starts and controls a separate process that writes to a directory of objects. */
final class DirectoryProcess implements AutoCloseable {
    private static final int BYTES = 1_000_000;
    private static final int MAX_BYTES = 100;

    private final Process process;
    private final BufferedReader out;

    private DirectoryProcess(List<String> arguments) throws IOException {
        this.process = new ProcessBuilder(ChildJvm.command(ChildJvm.FLAGS, DirectoryProcess.class.getName(), arguments))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        this.out = process.inputReader(StandardCharsets.UTF_8);
    }

    /** Starts a process that increments the number in an object {@code times} times. */
    static DirectoryProcess count(Path directory, String key, int times) throws IOException {
        return new DirectoryProcess(List.of("count", directory.toString(), key, Integer.toString(times)));
    }

    /** Starts a process that puts an object. Returns when half is written and the process waits for {@link #resume}. */
    static DirectoryProcess putHalf(Path directory, String key) throws IOException {
        DirectoryProcess process = new DirectoryProcess(List.of("put", directory.toString(), key));
        if (!"half".equals(process.out.readLine())) {
            throw new IOException("it did not get half as far");
        }
        return process;
    }

    /** Starts a process that opens the directory and puts an object until it is closed. */
    static DirectoryProcess putRepeatedly(Path directory, String key) throws IOException {
        DirectoryProcess process = new DirectoryProcess(List.of("repeat", directory.toString(), key));
        if (!"put".equals(process.out.readLine())) {
            throw new IOException("it has put nothing");
        }
        return process;
    }

    void resume() throws IOException {
        process.getOutputStream().write('\n');
        process.getOutputStream().flush();
    }

    /** Waits until the process ends, and returns whether it succeeded. */
    boolean succeeds() throws InterruptedException {
        return process.waitFor() == 0;
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    /** Runs the operation that the arguments specify, in the other process. */
    public static void main(String[] arguments) throws IOException {
        if (arguments[0].equals("repeat")) {
            putRepeatedly(arguments);
            return;
        }
        try (ObjectStore store = FileObjectStore.open(Path.of(arguments[1]))) {
            if (arguments[0].equals("count")) {
                count(store, arguments[2], Integer.parseInt(arguments[3]));
            } else {
                put(store, arguments[2]);
            }
        }
    }

    private static void putRepeatedly(String[] arguments) throws IOException {
        for (boolean first = true; first || System.in.available() == 0; first = false) {
            try (ObjectStore store = FileObjectStore.open(Path.of(arguments[1]))) {
                store.put(arguments[2], out -> out.write(1));
            }
            if (first) {
                System.out.println("put");
            }
        }
    }

    private static void count(ObjectStore store, String key, int times) {
        for (int done = 0; done < times; ) {
            ObjectStore.Stored before = store.get(key, MAX_BYTES);
            int count = Integer.parseInt(new String(before.content(), StandardCharsets.UTF_8));
            byte[] next = Integer.toString(count + 1).getBytes(StandardCharsets.UTF_8);
            try {
                store.putIf(key, next, before.tag());
                done++;
            } catch (ObjectStoreException another) {
                if (another.kind() != ObjectStoreException.Kind.CONFLICT) {
                    throw another;
                }
            }
        }
    }

    private static void put(ObjectStore store, String key) {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        store.put(key, out -> {
            out.write(new byte[BYTES]);
            System.out.println("half");
            if (in.readLine() == null) {
                throw new IOException("no signal to continue");
            }
            out.write(new byte[BYTES]);
        });
    }
}
