package io.caravan.integrations.testing;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Runs a program in a separate JVM, which a test can kill. The program has the class path of the tests. */
public final class ChildJvm implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    private ChildJvm(Process process) {
        this.process = process;
        this.output = process.inputReader();
    }

    static String classPath() {
        return System.getProperty("java.class.path");
    }

    /** Starts a main class with the class path of the tests. */
    public static ChildJvm start(Class<?> main, String... arguments) throws IOException {
        return start(classPath(), main.getName(), arguments);
    }

    static ChildJvm start(String classPath, String main, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath,
                main));
        Collections.addAll(command, arguments);
        return new ChildJvm(new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /**
     * Waits until the program has printed this many lines, and kills it with SIGKILL. Returns all lines that it
     * printed.
     */
    public List<String> killAfter(int lines) throws IOException {
        List<String> printed = new ArrayList<>();
        for (int i = 0; i < lines; i++) {
            String line = output.readLine();
            if (line == null) {
                throw new AssertionError("it ended by itself after " + printed);
            }
            printed.add(line);
        }
        // Uses the process handle, because destroying the Process would also close its output.
        process.toHandle().destroyForcibly();
        printed.addAll(linesUntilClosed());
        return printed;
    }

    List<String> linesToTheEnd() throws IOException {
        List<String> printed = linesUntilClosed();
        int exit = waitFor();
        if (exit != 0) {
            throw new AssertionError("it ended with " + exit + " after " + printed);
        }
        return printed;
    }

    private List<String> linesUntilClosed() throws IOException {
        List<String> lines = new ArrayList<>();
        String line = output.readLine();
        while (line != null) {
            lines.add(line);
            line = output.readLine();
        }
        waitFor();
        return lines;
    }

    private int waitFor() {
        return process.onExit().join().exitValue();
    }

    /** Kills the program if it is still running. */
    @Override
    public void close() {
        process.destroyForcibly();
        waitFor();
    }
}
