package io.caravan.server.cli.client;

import com.fasterxml.jackson.core.JsonGenerator;
import io.caravan.server.cli.common.Console;
import io.caravan.server.cli.common.Output;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Prints statistics of a document or of the server. */
@Command(
        name = "stat",
        description = {
            "Prints statistics of a document: its sequences, its number of values and their bytes, its content type,"
                    + " and whether it is closed or will expire. Without a name, those of the server and its store.",
            "As JSON, the server's statistics are an object of sections."
        },
        footer = {"  caravan stat", "  caravan stat letters/1 --output json"})
@SuppressWarnings("NullAway.Init") // picocli sets the fields
final class StatCommand extends ClientCommand {
    private static final Pattern NUMBER = Pattern.compile("-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,9})?");

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The document.")
    private @Nullable String name;

    StatCommand(Console console) {
        super(console);
    }

    @Override
    protected void run(Output output) throws IOException {
        try (ServerConnection connection = connect()) {
            Documents documents = new Documents(connection);
            if (name == null) {
                printServer(documents.status(), output);
            } else {
                printDocument(name, documents.info(bytes(name)), output);
            }
        }
    }

    private void printDocument(String wanted, @Nullable Map<String, @Nullable Object> info, Output output)
            throws IOException {
        if (info == null) {
            throw ClientException.missing(wanted);
        }
        if (json()) {
            output.object(fields -> {
                fields.writeStringField("name", wanted);
                for (Map.Entry<String, @Nullable Object> entry : info.entrySet()) {
                    fields.writeObjectField(entry.getKey(), entry.getValue());
                }
            });
            return;
        }
        for (Map.Entry<String, @Nullable Object> entry : info.entrySet()) {
            Object value = entry.getValue();
            output.line(entry.getKey() + ": " + (value == null ? "none" : value));
        }
    }

    private void printServer(String status, Output output) throws IOException {
        if (json()) {
            output.object(json -> writeSections(status, json));
            return;
        }
        for (String line : (Iterable<String>) status.lines()::iterator) {
            output.line(line.startsWith("#") ? line : line.replaceFirst(":", ": "));
        }
    }

    private static void writeSections(String status, JsonGenerator json) throws IOException {
        Map<String, Map<String, String>> sections = sections(status);
        for (Map.Entry<String, Map<String, String>> section : sections.entrySet()) {
            json.writeObjectFieldStart(section.getKey());
            for (Map.Entry<String, String> figure : section.getValue().entrySet()) {
                json.writeFieldName(figure.getKey());
                if (NUMBER.matcher(figure.getValue()).matches()) {
                    json.writeNumber(figure.getValue());
                } else {
                    json.writeString(figure.getValue());
                }
            }
            json.writeEndObject();
        }
    }

    /** Parses the answer's lines: {@code # Section}, then a {@code name:value} for each of its statistics. */
    private static Map<String, Map<String, String>> sections(String status) {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        Map<String, String> section = new LinkedHashMap<>();
        for (String line : (Iterable<String>) status.lines()::iterator) {
            int colon = line.indexOf(':');
            if (line.startsWith("# ")) {
                section = new LinkedHashMap<>();
                sections.put(line.substring(2).toLowerCase(Locale.ROOT), section);
            } else if (colon > 0) {
                section.put(line.substring(0, colon), line.substring(colon + 1));
            }
        }
        return sections;
    }
}
