"""Receives traces by OTLP over HTTP, and prints each span as one line of JSON.

The messages are decoded by OpenTelemetry's own protobuf definitions (the package opentelemetry-proto), so that a test
reads what any other collector would read.
"""

import gzip
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


def value_of(value):
    kind = value.WhichOneof("value")
    return None if kind is None else getattr(value, kind)


def attributes_of(attributes):
    return {each.key: value_of(each.value) for each in attributes}


def spans_of(request):
    for of_resource in request.resource_spans:
        resource = attributes_of(of_resource.resource.attributes)
        for of_scope in of_resource.scope_spans:
            for span in of_scope.spans:
                yield {
                    "service": resource.get("service.name"),
                    "traceId": span.trace_id.hex(),
                    "spanId": span.span_id.hex(),
                    "parentId": span.parent_span_id.hex(),
                    "name": span.name,
                    "startMs": span.start_time_unix_nano / 1e6,
                    "endMs": span.end_time_unix_nano / 1e6,
                    "attributes": attributes_of(span.attributes),
                    "failed": span.status.code == 2,
                }


class Collector(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.body()
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        request = ExportTraceServiceRequest.FromString(body)
        for span in spans_of(request):
            print(json.dumps(span), flush=True)
        answer = ExportTraceServiceResponse().SerializeToString()
        self.send_response(200 if self.path == "/v1/traces" else 404)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def body(self):
        """Returns the body, which the SDK for Node sends in chunks."""
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers["content-length"]))
        parts = []
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            parts.append(self.rfile.read(size))
            self.rfile.readline()
            if size == 0:
                return b"".join(parts)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
print(json.dumps({"port": server.server_port}), flush=True)
server.serve_forever()
