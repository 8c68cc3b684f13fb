{{- define "grange.name" -}}
{{- if contains "grange" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-grange" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end -}}
{{- end -}}

{{- define "grange.selector" -}}
app.kubernetes.io/name: grange
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "grange.labels" -}}
{{ include "grange.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "grange.image" -}}
{{- with .Values.image -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end -}}
{{- end -}}
{{- end -}}

{{- define "grange.url" -}}
{{ if .Values.server.tlsSecret }}https{{ else }}http{{ end }}://{{ include "grange.name" . }}:{{ .Values.service.port }}
{{- end -}}

{{- define "grange.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end -}}
