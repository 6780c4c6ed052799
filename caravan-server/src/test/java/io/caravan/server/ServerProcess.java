package io.caravan.server;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The server in a process of its own, which can be stopped and killed for real. */
final class ServerProcess implements AutoCloseable {
    private static final Pattern ANNOUNCED = Pattern.compile("caravan serves RESP on 127\\.0\\.0\\.1:([0-9]+), .*");
    private static final int TIMEOUT_SECONDS = 60;

    private final Process process;
    private final InetSocketAddress address;

    private ServerProcess(Process process, InetSocketAddress address) {
        this.process = process;
        this.address = address;
    }

    static ServerProcess start(Path data, String... jvmOptions) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(jvmOptions));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(List.of("serve", "--data", data.toString(), "--resp", "127.0.0.1:0", "--http", "127.0.0.1:0"));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        Matcher announced = ANNOUNCED.matcher(line == null ? "" : line);
        if (!announced.matches()) {
            process.destroyForcibly();
            throw new IOException("the server did not start: " + line);
        }
        int port = Integer.parseInt(announced.group(1));
        return new ServerProcess(process, new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    RespClient connect() throws IOException {
        return new RespClient(address);
    }

    int port() {
        return address.getPort();
    }

    /** Sends SIGTERM, and tells the exit code. */
    int terminate() throws InterruptedException {
        process.destroy();
        return exitCode();
    }

    /** Sends SIGKILL, and tells the exit code. */
    int kill() throws InterruptedException {
        process.destroyForcibly();
        return exitCode();
    }

    private int exitCode() throws InterruptedException {
        if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
            throw new IllegalStateException("the server did not end");
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
